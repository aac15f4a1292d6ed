import { BundledRecording, BundledView, type BundleProblem } from '../../contracts/admin/holds.routes.js';
import { present } from '../../contracts/common/present.js';
import type { Published } from '../../core/storage/draft.js';
import type { HeldRow, SeenRow } from './hold-bundle.repository.js';

/** Only letters, digits and dashes: every system can store the name, and no spreadsheet or shell reads it otherwise. */
const plain = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 40);

/** `20260131T083000Z` */
const timeName = (time: Date): string => `${time.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;

/** `recordings/2026-01-31/20260131T083000Z_front_<id>.mp4`: the order of names is that of time. */
export const fileNameOf = ({ start_time: start, camera_id: camera, id }: HeldRow): string =>
  `recordings/${start.toISOString().slice(0, 10)}/${timeName(start)}_${plain(camera)}_${id}.mp4`;

export const bundleName = (caseId: string, id: string, now: Date): string =>
  `hold-${plain(caseId).replace(/^-|-$/g, '') || id}-${timeName(now)}.zip`;

/** The file of a recording in the archive; undefined where it has none. */
export interface WrittenFile extends Published {
  readonly name: string;
}

function problemOf(row: HeldRow, written: WrittenFile | undefined): BundleProblem | undefined {
  if (row.status !== 'stored') return undefined;
  if (written === undefined) return 'gone';
  return written.sha256 === row.sha256 && written.size === Number(row.size_bytes) ? undefined : 'differs';
}

export const toBundled = (row: HeldRow, written: WrittenFile | undefined): BundledRecording =>
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

export const toSeen = ({ person, ...row }: SeenRow): Omit<BundledView, 'recordingId'> =>
  present(BundledView, { ...row, person: person && (person.email ?? person.name ?? person.subject) });
