import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { inBackground } from '../core/errors/background.js';
import { LRUCache } from 'lru-cache';
import type { Request } from 'express';
import { isValidFor, KeyCache, type KnownKey } from './key-cache.js';
import type { ApiContract, KeyHeader } from '../contracts/common/api-contract.js';
import { Database } from '../core/database/database.js';
import { apiError, AppError, withTimeout } from '../core/errors/app-error.js';
import { soleHeader } from '../core/http/headers.js';
import { cellOfKey, isWellFormedKey } from '../core/observability/key-form.js';
import { hashKey } from './api-key.js';
import { storeLastUses } from './api-key.repository.js';
import { KeyRotation } from './key-rotation.service.js';
import type { KeyPrincipal, Principal } from '../core/http/principal.js';

/** The last use of a key is stored with a precision of one minute (decision 17). */
const PRECISION_MS = 60_000;

/** The uses within this time are stored by one statement. */
const GATHER_MS = 1000;

/** Records when keys were last used: in memory first, so that no request waits for the database. */
@Injectable()
export class LastUse implements OnApplicationShutdown {
  private readonly logger = new Logger(LastUse.name);
  private readonly recorded = new LRUCache<string, number>({ max: 10_000 });
  private readonly pending = new Map<string, Date>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  record(key: KnownKey, now: number): void {
    const { keyId } = key.principal;
    if (now - Math.max(key.lastUsedAt, this.recorded.get(keyId) ?? 0) < PRECISION_MS) return;
    this.recorded.set(keyId, now);
    this.pending.set(keyId, new Date(now));
    this.timer ??= setTimeout(() => inBackground(this.write()), GATHER_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending.size === 0) return;
    const uses = [...this.pending];
    this.pending.clear();
    try {
      await storeLastUses(this.database, uses);
    } catch (err) {
      // No request may fail because of it. Without the entry the next use of the key is recorded again.
      for (const [id] of uses) this.recorded.delete(id);
      this.logger.warn({ err, keys: uses.length }, 'cannot store the last use of keys');
    }
  }
}

/** Limit for reading a key, and for activating a dormant one: the request can still be answered within 5 s. */
const TIMEOUT_MS = 2000;

const PARTNER_HEADERS: readonly KeyHeader[] = ['PLATFORM-API-KEY', 'API-KEY'];

/** Identifies the caller of a request by its API key. */
@Injectable()
export class ApiKeyService {
  /**
   * The last key of each connection, so that its hash is computed once. Whether the key is valid is checked on every
   * request.
   */
  private readonly lastOf = new WeakMap<object, { readonly text: string; readonly hash: string }>();

  constructor(
    private readonly cache: KeyCache,
    private readonly rotation: KeyRotation,
    private readonly lastUse: LastUse,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'CELL'>,
  ) {}

  /**
   * Returns the caller. Throws `unauthorized` if the key is absent, sent twice, unknown, revoked, expired or of another
   * interface (section 5, decisions 2 and 10), and `unavailable` if the database is unavailable. A key of scale or account
   * always has a hauler: a constraint of the table ensures it. Returns a promise only if a database query is necessary.
   */
  authenticate(request: Pick<Request, 'rawHeaders' | 'socket'>, api: ApiContract): Principal | Promise<Principal> {
    const text = soleHeader(request, api.keyHeader);
    const hash = text === undefined ? undefined : this.hashOf(text, request.socket);
    if (text === undefined || hash === undefined) throw refused(api);
    const found = this.cache.find(hash);
    if (!(found instanceof Promise)) return this.accept(found, text, api);
    return checked(found).then((key) => this.accept(key, text, api));
  }

  /** The caller of the partner API: a key of any interface, once, in either header. */
  async authenticatePartner(request: Pick<Request, 'rawHeaders' | 'socket'>): Promise<KeyPrincipal> {
    const [text, second] = PARTNER_HEADERS.flatMap((name) => soleHeader(request, name) ?? []);
    const hash = text === undefined || second !== undefined ? undefined : this.hashOf(text, request.socket);
    if (text === undefined || hash === undefined) throw refusedPartner();
    const key = await checked(Promise.resolve(this.cache.find(hash)));
    if (key === undefined) throw this.refusedForeign(text) ?? refusedPartner();
    if (Date.now() >= key.principal.endsAt) throw refusedPartner();
    return this.use(key, refusedPartner);
  }

  /** The hash of a key; `undefined` for a text that has not the form of a key. Most callers send one key on a connection. */
  private hashOf(text: string, connection: object): string | undefined {
    const last = this.lastOf.get(connection);
    if (last?.text === text) return last.hash;
    if (!isWellFormedKey(text)) return undefined;
    const hash = hashKey(text);
    this.lastOf.set(connection, { text, hash });
    return hash;
  }

  private accept(key: KnownKey | undefined, text: string, api: ApiContract): Principal | Promise<Principal> {
    if (key === undefined) throw this.refusedForeign(text) ?? refused(api);
    if (!isValidFor(key, api, Date.now())) throw refused(api);
    return this.use(key, () => refused(api));
  }

  /** The refusal of an unknown key that another cell has issued: the proxy or the caller has the wrong address. */
  private refusedForeign(text: string): AppError | undefined {
    const cell = cellOfKey(text);
    const { CELL } = this.env;
    if (cell === undefined || cell === CELL) return undefined;
    const here = CELL === undefined ? 'this service has no cells' : `this is cell ${CELL}`;
    return new AppError(
      'unauthorized',
      `the key belongs to cell ${cell}, and ${here}: check the address, or the routes of the proxy`,
    );
  }

  /** The caller with the key of a console session, which a query has just found valid. */
  async authenticateSession(key: KnownKey): Promise<KeyPrincipal> {
    return this.use(key, refusedPartner);
  }

  /** Records the use of a key. The first use activates a dormant key; `refusal` is thrown if it was revoked meanwhile. */
  private use(key: KnownKey, refusal: () => AppError): KeyPrincipal | Promise<KeyPrincipal> {
    const now = Date.now();
    if (!key.dormant) {
      this.lastUse.record(key, now);
      return key.principal;
    }
    return checked(this.rotation.activate(key)).then((isActive) => {
      if (!isActive) throw refusal();
      this.lastUse.record(key, now);
      return key.principal;
    });
  }
}

function refused(api: ApiContract): AppError {
  return apiError(api, 'unauthorized', `send a valid API key, once, in the header ${api.keyHeader}`);
}

const refusedPartner = () =>
  new AppError('unauthorized', `send a valid API key, once, in one of the headers ${PARTNER_HEADERS.join(' or ')}`);

const checked = <T>(query: Promise<T>): Promise<T> =>
  withTimeout(query, TIMEOUT_MS, 'the key could not be checked in time; try again shortly');
