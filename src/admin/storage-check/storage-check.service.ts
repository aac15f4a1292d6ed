import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  MAX_STORAGE_FINDINGS,
  MAX_UNREAD,
  type StorageCheck,
  type StorageCheckQuery,
  type StorageFinding,
  type StorageRemedy,
  type StorageRepair,
  type StorageRepairRequest,
} from '../../contracts/admin/storage.routes.js';
import { Database } from '../../core/database/database.js';
import { unavailable } from '../../core/errors/app-error.js';
import { referenceInventories } from '../../reference-partner/vision/stored-videos.repository.js';
import { announcedFiles, type Inventory, type InventoryFile } from '../../core/storage/inventory.repository.js';
import { ifNotStored, StorageUnavailableError, UnreadableError } from '../../core/storage/storage-errors.js';
import { STORAGE, type Storage, type StoredFile } from '../../core/storage/storage.js';
import { recordingInventory } from '../../vision/recordings/recordings.repository.js';
import { RecordingContent } from '../../vision/downloads/recording-content.service.js';

/** A file appears shortly before its row, so only an older file without a row is reported. */
const MIN_AGE_MS = 10 * 60_000;
const BATCH = 500;
/** Concurrent requests to the storage: S3 answers each in tens of milliseconds. */
const CONCURRENCY = 16;

type RowFinding = Omit<StorageFinding, 'table'>;

/** Compares the storage with the tables whose rows have files. Changes nothing. */
@Injectable()
export class StorageChecks {
  private readonly inventories: readonly Inventory[];

  constructor(
    private readonly database: Database,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {
    this.inventories = [...referenceInventories(database), recordingInventory(database)];
  }

  async examine({ checksums = false }: StorageCheckQuery = {}): Promise<StorageCheck> {
    const { advice } = await this.storage.check();
    const result: StorageCheck = { examined: 0, data: [], unread: [], ...(advice === undefined ? {} : { advice }) };
    try {
      for (const inventory of this.inventories) {
        // Rows of a folder that cannot be read are then known not to be lost.
        await this.examineFiles(inventory, result);
        await this.examineRows(inventory, checksums, result);
      }
    } catch (error) {
      // An admin may read the reason, which other callers may not.
      throw error instanceof StorageUnavailableError ? unavailable(error.message, { cause: error }) : error;
    }
    result.data.splice(MAX_STORAGE_FINDINGS);
    return result;
  }

  private async examineRows(inventory: Inventory, checksums: boolean, result: StorageCheck): Promise<void> {
    let batch: readonly InventoryFile[] = [];
    do {
      if (result.data.length >= MAX_STORAGE_FINDINGS) return;
      batch = await inventory.after(batch.at(-1)?.id, BATCH);
      result.examined += batch.length;
      for (let i = 0; i < batch.length; i += CONCURRENCY) {
        const examined = batch.slice(i, i + CONCURRENCY).map((file) => this.examineReadable(file, checksums, result));
        const findings = (await Promise.all(examined)).filter((finding) => finding !== undefined);
        if (findings.length === 0) continue;
        await this.assertMounted(inventory, findings);
        // A file that was deleted together with its row in the meantime is not a finding.
        const existing = await inventory.existing(findings.map(({ id }) => id));
        const { table } = inventory;
        result.data.push(...findings.filter(({ id }) => existing.has(id)).map((finding) => ({ ...finding, table })));
      }
    } while (batch.length === BATCH);
  }

  /** While a folder is missing, each of its files looks lost. Only reading a file reports the missing folder. */
  private async assertMounted({ folder }: Inventory, findings: readonly RowFinding[]): Promise<void> {
    const lost = findings.find(({ finding }) => finding === 'file-lost');
    if (lost === undefined) return;
    try {
      (await this.storage.read(lost.file)).destroy();
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) return ifNotStored(error);
      const advice = `Mount ${folder}; if its files are permanently lost, create an empty folder and run the check again.`;
      throw new StorageUnavailableError(error.trouble, `${error.message} ${advice}`, error);
    }
  }

  /** A file that cannot be read, or whose folder cannot, is named as unread: it is not lost. */
  private async examineReadable(
    row: InventoryFile,
    checksums: boolean,
    result: StorageCheck,
  ): Promise<RowFinding | undefined> {
    try {
      const found = await this.examineRow(row, checksums);
      return found?.finding === 'file-lost' && isWithinUnread(row.name, result) ? undefined : found;
    } catch (error) {
      addUnread(result, error);
      return undefined;
    }
  }

  private async examineRow(row: InventoryFile, checksums: boolean): Promise<RowFinding | undefined> {
    const { id, name: file, size, sha256 } = row;
    const lost = { finding: 'file-lost', id, file, message: 'the row exists, its file does not' } as const;
    const differs = (message: string) => ({ finding: 'file-differs', id, file, message }) as const;
    const found = await this.storage.stat(file);
    if (found === undefined) return lost;
    if (found.size !== size) return differs(`the file has ${found.size} bytes, its row says ${size}`);
    if (!checksums) return undefined;
    const actual = await this.sha256Of(file);
    if (actual === undefined) return lost;
    return actual === sha256 ? undefined : differs('the SHA-256 of the file differs from its row');
  }

  /** Undefined if the file was deleted in the meantime. */
  private async sha256Of(name: string): Promise<string | undefined> {
    const content = await this.storage.read(name).catch(ifNotStored);
    if (content === undefined) return undefined;
    const hash = createHash('sha256');
    for await (const chunk of content) hash.update(chunk as Buffer);
    return hash.digest('hex');
  }

  private async examineFiles(inventory: Inventory, result: StorageCheck): Promise<void> {
    let batch: StoredFile[] = [];
    try {
      for await (const file of this.storage.list(inventory.folder, (error) => addUnread(result, error))) {
        if (result.data.length >= MAX_STORAGE_FINDINGS) return;
        batch.push(file);
        if (batch.length < BATCH) continue;
        await this.compareFiles(inventory, batch, result);
        batch = [];
      }
    } catch (error) {
      addUnread(result, error);
    }
    await this.compareFiles(inventory, batch, result);
  }

  /** Whether the file has no row, and nobody is storing it. */
  async isOrphan({ table, id, file }: StorageFinding): Promise<boolean> {
    const inventory = this.inventories.find((each) => each.table === table);
    return inventory !== undefined && (await this.orphansOf(inventory, [file])).has(id);
  }

  /** The ids in the names of files that have no row, and that nobody is storing. */
  private async orphansOf(inventory: Inventory, names: readonly string[]): Promise<ReadonlySet<string>> {
    const announced = await announcedFiles(this.database);
    const ids = names.filter((name) => !announced.has(name)).map(idInName);
    const expected = await inventory.expected(ids);
    return new Set(ids.filter((id) => !expected.has(id)));
  }

  private async compareFiles(inventory: Inventory, files: readonly StoredFile[], result: StorageCheck): Promise<void> {
    const old = files.filter(({ modifiedAt }) => Date.now() - modifiedAt.getTime() >= MIN_AGE_MS);
    const orphans = await this.orphansOf(
      inventory,
      old.map(({ name }) => name),
    );
    const { table } = inventory;
    for (const { name } of old) {
      const id = idInName(name);
      if (!orphans.has(id)) continue;
      result.data.push({ finding: 'row-lost', table, id, file: name, message: 'the file exists, its row does not' });
    }
    result.examined += files.length;
  }
}

/** Throws any other error. */
function addUnread({ unread }: StorageCheck, error: unknown): void {
  if (!(error instanceof UnreadableError)) throw error;
  const { place, reason } = error;
  if (unread.length < MAX_UNREAD && !unread.some((each) => each.place === place)) unread.push({ place, reason });
}

const isWithinUnread = (name: string, { unread }: StorageCheck): boolean =>
  unread.some(({ place }) => name === place || name.startsWith(`${place}/`));

const idInName = (name: string): string => (name.split('/').at(-1) ?? '').replace(/\.[^.]*$/, '');

/** Puts right what the comparison of the storage with the database finds. */
@Injectable()
export class StorageRepairs {
  constructor(
    private readonly checks: StorageChecks,
    private readonly contents: RecordingContent,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  /** With `dryRun` it changes nothing, and reports what it would do. */
  async run({
    checksums = false,
    dryRun = false,
    removeOrphans = false,
  }: StorageRepairRequest): Promise<StorageRepair> {
    const { examined, data, unread } = await this.checks.examine({ checksums });
    const counts: Record<StorageRemedy, number> = { fetchedAgain: 0, removed: 0, none: 0 };
    const repaired = [];
    for (const finding of data) {
      const remedy = remedyOf(finding, removeOrphans);
      const isDone = dryRun || (await this.apply(finding, remedy));
      const shown = isDone ? remedy : 'none';
      counts[shown] += 1;
      repaired.push({ ...finding, remedy: shown });
    }
    if (!dryRun && counts.fetchedAgain > 0) this.contents.fetchDue();
    return { dryRun, examined, ...counts, data: repaired, unread };
  }

  /** Returns false if the row has changed in the meantime, or somebody stores the file. */
  private async apply(finding: StorageFinding, remedy: StorageRemedy): Promise<boolean> {
    if (remedy === 'fetchedAgain') return this.contents.fetchAgain(finding.id);
    try {
      if (remedy !== 'removed') return true;
      if (!(await this.checks.isOrphan(finding))) return false;
      await this.storage.delete(finding.file);
    } catch (error) {
      throw error instanceof StorageUnavailableError ? unavailable(error.message, { cause: error }) : error;
    }
    return true;
  }
}

/** A file that differs stays: the partner may have no other. Files of the reference partner come from its own callers. */
function remedyOf({ finding, table }: StorageFinding, removeOrphans: boolean): StorageRemedy {
  if (finding === 'file-lost' && table === 'recordings') return 'fetchedAgain';
  return finding === 'row-lost' && removeOrphans ? 'removed' : 'none';
}
