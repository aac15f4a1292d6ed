import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { PRIVATE_FILE } from '../../core/config/private-modes.js';
import { AppError, invalid, unavailable } from '../../core/errors/app-error.js';
import { makeFolder } from '../../core/storage/make-folder.js';
import { Inject, Injectable } from '@nestjs/common';
import { HaulersService } from '../../auth/haulers.service.js';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import {
  ACCOUNT_IMPORT_MAX_ROWS,
  type AccountImport,
  type AccountImportQuery,
} from '../../contracts/admin/accounts.routes.js';
import { Semaphore } from '../../core/database/semaphore.js';
import { csvRows, delimiterOf, utf8Bytes } from '../../core/http/csv-rows.js';
import { columnsOf, type ReadRow, readRow } from './account-columns.rules.js';
import { ImportBatches, ImportReport } from './import-batches.js';

const HEAD_BYTES = 65_536;

/** A file without a name: it can be read from its start several times, and is gone with the process. */
interface SpooledFile {
  readonly head: Buffer;
  bytes(): AsyncIterable<Buffer>;
}

/** Writes all bytes to a file below `folder` before `work` reads them, because nothing may be done for a part of them. */
async function spooled<T>(
  folder: string,
  bytes: AsyncIterable<Buffer>,
  work: (file: SpooledFile) => Promise<T>,
): Promise<T> {
  const handle = await onDisk(() => openUnnamed(folder));
  try {
    for await (const chunk of bytes) await onDisk(() => handle.write(chunk));
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return await work({
      head: buffer.subarray(0, bytesRead),
      bytes: () => handle.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>,
    });
  } finally {
    await handle.close();
  }
}

async function openUnnamed(folder: string): Promise<FileHandle> {
  await makeFolder(folder);
  const path = join(folder, `haulbridge-import-${randomUUID()}`);
  const handle = await open(path, 'wx+', PRIVATE_FILE);
  await unlink(path);
  return handle;
}

async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === 'ENOSPC' ? 'the disk is full' : 'the disk refuses it';
    throw unavailable(`the file cannot be kept while it is read: ${reason}; nothing was imported`, { cause });
  }
}

/** A dry run of a million rows needs 400 MB. */
const MAX_RUNNING = 1;

/** Two batches of the creation of accounts. */
const BATCH_ROWS = 256;

/** Creates the accounts of a CSV, each as the interface creates one that a partner sends. */
@Injectable()
export class AccountImports {
  private readonly running = new Semaphore(MAX_RUNNING);
  private readonly folder: string;

  constructor(
    private readonly haulers: HaulersService,
    private readonly batches: ImportBatches,
    @Inject(ENV) { DATA_DIR }: Pick<ResolvedEnv, 'DATA_DIR'>,
  ) {
    this.folder = join(DATA_DIR, 'scratch');
  }

  /**
   * Reads the whole file first: nothing is written of one that is no CSV. Then each batch of rows is one or more transactions;
   * after a failure, or when the caller has left, the batches before it stay. `signal` aborts when the caller has left.
   */
  async run(query: AccountImportQuery, bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<AccountImport> {
    const { haulerId } = query;
    if (!(await this.haulers.exists(haulerId))) {
      throw invalid([{ path: 'haulerId', rule: 'isKnown', message: `there is no hauler ${haulerId}` }]);
    }
    if (!this.running.tryAcquire()) {
      throw unavailable('another file is being imported; try again when it is done', { retryAfterSeconds: 10 });
    }
    try {
      return await spooled(this.folder, utf8Bytes(bytes), (file) => this.read(query, file, signal));
    } finally {
      this.running.release();
    }
  }

  private async read(query: AccountImportQuery, file: SpooledFile, signal: AbortSignal): Promise<AccountImport> {
    await checkRows(file);
    const report = new ImportReport();
    const batch = this.batches.of(query, report);
    let rows: ReadRow[] = [];
    const write = async () => {
      const next = rows;
      rows = [];
      if (signal.aborted) throw unavailable('the caller has left');
      await batch(next);
    };
    let line = 1;
    try {
      for await (const row of readRows(file, query.haulerId)) {
        rows.push(row);
        if (rows.length < BATCH_ROWS) continue;
        await write();
        ({ line } = row);
      }
      await write();
    } catch (error) {
      throw query.dryRun === true ? error : interrupted(error, line, report);
    }
    return report.of(query);
  }
}

/** Throws `invalid` with the first line that is no CSV, and for too many rows. */
async function checkRows(file: SpooledFile): Promise<void> {
  let count = -1;
  for await (const row of csvRows(file.bytes(), delimiterOf(file.head))) {
    if (count === -1) columnsOf(row);
    count += 1;
    if (count <= ACCOUNT_IMPORT_MAX_ROWS) continue;
    const message = `line ${row.line}: a file has at most ${ACCOUNT_IMPORT_MAX_ROWS} rows: divide it`;
    throw invalid([{ path: '', rule: 'isCsv', message }]);
  }
  if (count >= 0) return;
  const message = 'line 1: the file is empty: the first line has the names of the columns';
  throw invalid([{ path: '', rule: 'isCsv', message }]);
}

async function* readRows(file: SpooledFile, haulerId: string): AsyncGenerator<ReadRow> {
  let columns: readonly string[] | undefined;
  for await (const row of csvRows(file.bytes(), delimiterOf(file.head))) {
    if (columns === undefined) columns = columnsOf(row);
    else yield readRow(columns, row, haulerId);
  }
}

/** States what was written: the batches until `line`, and an unknown part of the batch after it. */
function interrupted(error: unknown, line: number, { counts, rows }: ImportReport): unknown {
  if (!(error instanceof AppError) || error.kind !== 'unavailable') return error;
  return new AppError(
    'unavailable',
    `the import ended after line ${line} (${rows} rows, ${counts.created} accounts created); of the next ${BATCH_ROWS} rows some may be created too. Import the same file again: accounts that exist are not created twice. The reason: ${error.message}`,
    { cause: error, headers: error.headers },
  );
}
