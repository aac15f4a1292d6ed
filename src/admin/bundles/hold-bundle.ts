import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { Published } from '../../core/storage/draft.js';
import {
  BundledRecording,
  BundledView,
  type BundleProblem,
  type HoldBundleQuery,
  type HoldDetails,
} from '../../contracts/admin/holds.routes.js';
import { formatInstant } from '../../contracts/common/instant.js';
import type { Database } from '../../core/database/database.js';
import type { Storage } from '../../core/storage/storage.js';
import { ifNotStored } from '../../core/storage/storage-errors.js';
import { recordingFile } from '../../vision/recordings/recording.rules.js';
import { findActions, findBundle, type HeldRow, type SeenRow } from './hold-bundle.repository.js';
import { present } from '../../contracts/common/present.js';

interface EntryOptions {
  readonly mtime: Date;
  /** Video is compressed already. */
  readonly compress: boolean;
}

/**
 * A ZIP archive that is sent while it is written, one entry after the other, with ZIP64 where it is needed. Nothing is read
 * faster than the archive is received.
 */
export class ZipArchive {
  private readonly zip = new ZipFile();

  /** `signal` ends the entry that is being read. */
  constructor(private readonly signal: AbortSignal) {}

  get output(): Readable {
    return this.zip.outputStream as Readable;
  }

  /** Returns the size and the SHA-256 of what was written. Rejects if the source fails: the archive has no end then. */
  async add(name: string, source: Readable, options: EntryOptions): Promise<Published> {
    const hash = createHash('sha256');
    let size = 0;
    const meter = new Transform({
      transform(chunk: Buffer, _encoding, callback) {
        hash.update(chunk);
        size += chunk.length;
        callback(null, chunk);
      },
    });
    this.zip.addReadStream(meter, name, options);
    await pipeline(source, meter, { signal: this.signal });
    return { size, sha256: hash.digest('hex') };
  }

  addText(name: string, texts: Iterable<string> | AsyncIterable<string>, mtime: Date): Promise<Published> {
    return this.add(name, Readable.from(texts, { objectMode: false }), { mtime, compress: true });
  }

  end(): void {
    this.zip.end();
  }
}

/** Rows of one read, and recordings whose views are read at once. */
const BATCH = 500;

const VIEWS = ['recording.viewed', 'recording.downloaded', 'share.viewed'];
const EXPORTED = 'hold.exported';
const MANIFEST = 'manifest.json';

interface BundleSource {
  readonly database: Database;
  readonly storage: Storage;
}

export interface BundleFacts {
  readonly hold: HoldDetails;
  readonly range: HoldBundleQuery;
  readonly createdAt: Date;
  readonly createdBy: string;
}

/** The contents of one bundle. The manifest comes last: it has what was written. */
export class HoldBundle {
  private readonly recordings: BundledRecording[] = [];
  private readonly sums: string[] = [];

  constructor(
    private readonly source: BundleSource,
    private readonly facts: BundleFacts,
    private readonly archive: ZipArchive,
  ) {}

  async write(): Promise<void> {
    for (let page = await this.page(); page.length > 0; page = await this.page(page.at(-1))) {
      for (const row of page) this.recordings.push(toBundled(row, await this.addFile(row)));
    }
    const { sha256 } = await this.archive.addText(MANIFEST, this.manifestTexts(), this.facts.createdAt);
    this.sums.push(`${sha256}  ${MANIFEST}\n`);
    await this.archive.addText('SHA256SUMS', this.sums, this.facts.createdAt);
  }

  private page(last?: HeldRow): Promise<HeldRow[]> {
    const { database } = this.source;
    const { range, hold } = this.facts;
    const { haulerId: hauler_id, id } = hold;
    return database.transaction((transaction) => findBundle(transaction, { hauler_id, id }, range, last, BATCH), {
      pool: 'bulk',
    });
  }

  /** Undefined if the recording has no file. A storage that fails ends the archive. */
  private async addFile(row: HeldRow): Promise<WrittenFile | undefined> {
    if (row.status !== 'stored') return undefined;
    const source = await this.source.storage.read(recordingFile(row.id)).catch(ifNotStored);
    if (source === undefined) return undefined;
    const name = fileNameOf(row);
    const written = await this.archive.add(name, source, { mtime: row.start_time, compress: false });
    this.sums.push(`${written.sha256}  ${name}\n`);
    return { name, ...written };
  }

  /** Up to the time of the bundle. */
  private async *views(): AsyncGenerator<BundledView> {
    for (let i = 0; i < this.recordings.length; i += BATCH) {
      const resources = this.recordings.slice(i, i + BATCH).map(({ id }) => `recording:${id}`);
      const rows = await findActions(this.source.database, resources, VIEWS, this.facts.createdAt);
      for (const row of rows) yield { recordingId: row.resource.slice('recording:'.length), ...toSeen(row) };
    }
  }

  private async *manifestTexts(): AsyncGenerator<string> {
    const { hold, range, createdAt, createdBy } = this.facts;
    const exported = await findActions(this.source.database, [`hold:${hold.id}`], [EXPORTED], createdAt);
    const facts = {
      format: 'haulbridge hold bundle 1',
      createdAt: formatInstant(createdAt),
      createdBy,
      hold,
      ...(Object.keys(range).length === 0 ? {} : { part: range }),
      earlierExports: exported.map(toSeen),
    };
    yield JSON.stringify(facts, null, 2).replace(/\n\}$/, ',\n  "recordings": [');
    yield* jsonLines(this.recordings);
    yield '],\n  "views": [';
    yield* jsonLines(this.views());
    yield ']\n}\n';
  }
}

async function* jsonLines(elements: Iterable<object> | AsyncIterable<object>): AsyncGenerator<string> {
  let separator = '\n    ';
  for await (const element of elements) {
    yield separator + JSON.stringify(element);
    separator = ',\n    ';
  }
}

/** Only letters, digits and dashes: every system can store the name, and no spreadsheet or shell reads it otherwise. */
const plain = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 40);

/** `20260131T083000Z` */
const timeName = (time: Date): string => `${time.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;

/** `recordings/2026-01-31/20260131T083000Z_front_<id>.mp4`: the order of names is that of time. */
const fileNameOf = ({ start_time: start, camera_id: camera, id }: HeldRow): string =>
  `recordings/${start.toISOString().slice(0, 10)}/${timeName(start)}_${plain(camera)}_${id}.mp4`;

export const bundleName = (caseId: string, id: string, now: Date): string =>
  `hold-${plain(caseId).replace(/^-|-$/g, '') || id}-${timeName(now)}.zip`;

/** The file of a recording in the archive; undefined where it has none. */
interface WrittenFile extends Published {
  readonly name: string;
}

function problemOf(row: HeldRow, written: WrittenFile | undefined): BundleProblem | undefined {
  if (row.status !== 'stored') return undefined;
  if (written === undefined) return 'gone';
  return written.sha256 === row.sha256 && written.size === Number(row.size_bytes) ? undefined : 'differs';
}

const toBundled = (row: HeldRow, written: WrittenFile | undefined): BundledRecording =>
  present(BundledRecording, {
    ...row,
    file: written?.name,
    problem: problemOf(row, written),
    writtenBytes: written?.size,
    writtenSha256: written?.sha256,
    listedAt: row.created_at,
    connectionUrl: row.base_url,
    videoRequestId: row.request_id,
  });

const toSeen = ({ person, ...row }: SeenRow): Omit<BundledView, 'recordingId'> =>
  present(BundledView, { ...row, person: person && (person.email ?? person.name ?? person.subject) });
