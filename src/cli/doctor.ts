import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { FileKeeper, KeptFile } from '../storage/file-keeper.js';
import { ifNotStored, StorageUnavailable } from '../storage/storage-errors.js';
import { STORAGE, type Storage, type StoredFile } from '../storage/storage.js';
import { hostedFileKeepers } from '../vision/hosted/film-tables.js';
import { recordingFileKeeper } from '../vision/recordings/recording-files.js';

/** A file without a row is told only when it is older: it appears a moment before its row does. */
const UNDER_WAY_MS = 10 * 60_000;
const BATCH = 500;
/** Questions to the storage at once: S3 answers each in tens of milliseconds. */
const AT_ONCE = 16;

export type FindingKind = 'file-lost' | 'file-differs' | 'row-lost';

export interface Finding {
  readonly finding: FindingKind;
  readonly table: string;
  readonly id: string;
  readonly file: string;
  readonly message: string;
}

export interface DoctorOptions {
  /** Reads every file and compares its SHA-256. */
  readonly checksums?: boolean;
}

/** Compares the storage with the rows that tell of its files. Changes nothing. */
@Injectable()
export class Doctor {
  private readonly keepers: readonly FileKeeper[];

  constructor(
    dataSource: DataSource,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {
    this.keepers = [...hostedFileKeepers(dataSource), recordingFileKeeper(dataSource)];
  }

  async examine(options: DoctorOptions = {}): Promise<{ examined: number; data: Finding[] }> {
    const data: Finding[] = [];
    let examined = 0;
    for (const keeper of this.keepers) {
      examined += await this.examineRows(keeper, options, data);
      examined += await this.examineFiles(keeper, data);
    }
    return { examined, data };
  }

  private async examineRows(keeper: FileKeeper, options: DoctorOptions, findings: Finding[]): Promise<number> {
    let examined = 0;
    let batch: readonly KeptFile[] = [];
    do {
      batch = await keeper.after(batch.at(-1)?.id, BATCH);
      examined += batch.length;
      for (let i = 0; i < batch.length; i += AT_ONCE) {
        const faults = await Promise.all(batch.slice(i, i + AT_ONCE).map((file) => this.examineRow(file, options)));
        const suspects = faults.filter((fault) => fault !== undefined);
        if (suspects.length === 0) continue;
        await this.expectMount(keeper, suspects);
        // What was deleted a moment ago, with its row, is no fault.
        const still = await keeper.holding(suspects.map(({ id }) => id));
        findings.push(
          ...suspects.filter(({ id }) => still.has(id)).map((fault) => ({ ...fault, table: keeper.table })),
        );
      }
    } while (batch.length === BATCH);
    return examined;
  }

  /** While a folder is missing each of its files looks lost; only who reads one is told. */
  private async expectMount({ folder }: FileKeeper, suspects: readonly Omit<Finding, 'table'>[]): Promise<void> {
    const lost = suspects.find(({ finding }) => finding === 'file-lost');
    if (lost === undefined) return;
    try {
      (await this.storage.read(lost.file)).destroy();
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) return ifNotStored(error);
      const advice = `Mount ${folder}; where its films are lost for good, make an empty one and ask again.`;
      throw new StorageUnavailable(error.trouble, `${error.message} ${advice}`, error);
    }
  }

  private async examineRow(kept: KeptFile, { checksums }: DoctorOptions): Promise<Omit<Finding, 'table'> | undefined> {
    const { id, name: file, size, sha256 } = kept;
    const lost = { finding: 'file-lost', id, file, message: 'the row is there, its file is not' } as const;
    const found = await this.storage.stat(file);
    if (found === undefined) return lost;
    if (found.size !== size) {
      return { finding: 'file-differs', id, file, message: `the file has ${found.size} bytes, its row says ${size}` };
    }
    if (checksums !== true) return undefined;
    const sum = await this.sha256Of(file);
    if (sum === undefined) return lost;
    if (sum === sha256) return undefined;
    return { finding: 'file-differs', id, file, message: 'the SHA-256 of the file is not the one in its row' };
  }

  /** Undefined where the file went meanwhile. */
  private async sha256Of(name: string): Promise<string | undefined> {
    const content = await this.storage.read(name).catch(ifNotStored);
    if (content === undefined) return undefined;
    const sum = createHash('sha256');
    for await (const chunk of content) sum.update(chunk as Buffer);
    return sum.digest('hex');
  }

  private async examineFiles(keeper: FileKeeper, findings: Finding[]): Promise<number> {
    let examined = 0;
    let batch: StoredFile[] = [];
    const compare = async () => {
      const held = await keeper.holding(batch.map(({ name }) => idInName(name)));
      for (const { name, modifiedAt } of batch) {
        if (held.has(idInName(name)) || Date.now() - modifiedAt.getTime() < UNDER_WAY_MS) continue;
        findings.push({
          finding: 'row-lost',
          table: keeper.table,
          id: idInName(name),
          file: name,
          message: 'the file is there, no row tells of it',
        });
      }
      examined += batch.length;
      batch = [];
    };
    for await (const file of this.storage.list(keeper.folder)) {
      batch.push(file);
      if (batch.length === BATCH) await compare();
    }
    await compare();
    return examined;
  }
}

const idInName = (name: string): string =>
  name
    .split('/')
    .at(-1)
    ?.replace(/\.[^.]*$/, '') ?? '';
