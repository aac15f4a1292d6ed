import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { AppError } from '../errors/app-error.js';
import { inBackground } from '../errors/background.js';
import { cellOfKey } from '../observability/key-form.js';
import { keyPrefix } from './api-key.js';
import { prefixesOfOtherCells } from './api-key.repository.js';

/** How soon an instance knows the keys of a hauler that has been moved here: `hauler import` waits for it. */
const REFRESH_MS = 2_000;

/**
 * The keys that other cells have issued and that moved here with their haulers. Any other key of another cell is refused without
 * a query: the proxy or the caller has the wrong address.
 */
@Injectable()
export class MovedKeys implements OnModuleInit, OnApplicationShutdown {
  private prefixes: ReadonlySet<string> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'CELL'>,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => inBackground(this.refresh()), REFRESH_MS).unref();
    inBackground(this.refresh());
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Throws `unauthorized` for a key of another cell that has not moved here. */
  refuseForeign(key: string): void {
    const cell = cellOfKey(key);
    const { CELL } = this.env;
    if (cell === undefined || cell === CELL || this.prefixes?.has(keyPrefix(key)) !== false) return;
    const here = CELL === undefined ? 'this service has no cells' : `this is cell ${CELL}`;
    throw new AppError(
      'unauthorized',
      `the key belongs to cell ${cell}, and ${here}: check the address, or the routes of the proxy`,
    );
  }

  private async refresh(): Promise<void> {
    // Without the database a key cannot be checked either. Before the first answer every key is looked up.
    const prefixes = await prefixesOfOtherCells(this.dataSource, this.env.CELL).catch(() => undefined);
    if (prefixes !== undefined) this.prefixes = new Set(prefixes);
  }
}
