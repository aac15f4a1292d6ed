import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import {
  EnumField,
  InstantField,
  IntegerField,
  NumberField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { CAMERA, CONNECTION, TRUCK } from './recording.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';

/** A bundle of more is asked for in parts: its list is in memory until the last file is sent. */
export const MAX_BUNDLE_RECORDINGS = 20_000;

/** The header, and the trailer, of a bundle: how many of its files are gone or differ. */
export const BUNDLE_PROBLEMS = 'Hold-Bundle-Problems';

export class HoldBundleQuery {
  @InstantField({
    description: 'Only recordings that end after this time, for a part of a large hold',
    optional: true,
    inQuery: true,
  })
  endsAfter?: Instant;

  @InstantField({ description: 'Only recordings that start before this time', optional: true, inQuery: true })
  startsBefore?: Instant;
}

export const BUNDLE_PROBLEM_KINDS = ['gone', 'differs'] as const;
export type BundleProblem = (typeof BUNDLE_PROBLEM_KINDS)[number];

const BYTES = { min: 0, max: Number.MAX_SAFE_INTEGER, example: 5_242_880 };
const SHA256 = { max: 64, optional: true };

/** One recording of a hold, in `manifest.json` and `manifest.csv` of its bundle. */
export class BundledRecording {
  @TextField({ description: 'Its file in the archive; absent where there is none', max: 255, optional: true })
  file?: string;

  @EnumField({
    description:
      '`gone`: the video storage has lost the file; `differs`: the file is in the archive, with another size or SHA-256 than when it was stored',
    values: BUNDLE_PROBLEM_KINDS,
    optional: true,
  })
  problem?: BundleProblem;

  @TextField(TRUCK)
  truckId!: string;

  @TextField(CAMERA)
  cameraId!: string;

  @InstantField({ description: 'Start of the recorded time', example: '2026-01-31T08:30:00Z' })
  startTime!: string;

  @InstantField({ description: 'End of the recorded time', example: '2026-01-31T08:35:00Z' })
  endTime!: string;

  @NumberField({ description: 'Length in seconds', example: 300 })
  durationSeconds!: number;

  @TextField({ description: 'State: only a `stored` one has a file', max: 32, example: 'stored' })
  status!: string;

  @TextField({ description: 'Reason for the state', max: 10_000, optional: true })
  reason?: string;

  @IntegerField({ description: 'Bytes as stored', ...BYTES, optional: true })
  sizeBytes?: number;

  @TextField({ description: 'SHA-256 as stored, when it was downloaded', ...SHA256 })
  sha256?: string;

  @IntegerField({ description: 'Bytes as written to the archive', ...BYTES, optional: true })
  writtenBytes?: number;

  @TextField({ description: 'SHA-256 as computed while the archive was written', ...SHA256 })
  writtenSha256?: string;

  @TextField({ description: 'How it was fetched: requested clip or continuous list', max: 32, example: 'continuous' })
  source!: string;

  @InstantField({ description: 'When it was first listed by the partner', example: '2026-01-31T08:36:00Z' })
  listedAt!: string;

  @InstantField({ description: 'When its file was stored', optional: true, example: '2026-01-31T08:37:00Z' })
  storedAt?: string;

  @UuidField({ description: 'Id of the recording', example: ID })
  id!: string;

  @UuidField({ description: 'Hauler that it belongs to', example: ID })
  haulerId!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField({ description: "Address of the partner's API", max: 2_048, example: 'https://partner.example' })
  connectionUrl!: string;

  @TextField({ description: "The partner's id of the recording", max: MAX_PARTNER_ID, example: 'chunk-4711' })
  partnerRecordingId!: string;

  @TextField({ description: 'Customer, as the partner names it', max: MAX_PARTNER_ID, example: ID })
  customerId!: string;

  @UuidField({ description: 'The request of a clip', optional: true, example: ID })
  videoRequestId?: string;

  @TextField({ description: "The partner's id of the request", max: MAX_PARTNER_ID, optional: true })
  partnerRequestId?: string;
}

/** One view of a recording, in `manifest.json` and `views.csv`. */
export class BundledView {
  @UuidField({ description: 'Id of the recording', example: ID })
  recordingId!: string;

  @InstantField({ description: 'When', example: '2026-02-03T10:00:00Z' })
  at!: string;

  @TextField({ description: 'What was done, as in the action log', max: 255, example: 'recording.viewed' })
  action!: string;

  @TextField({ description: 'Who, as the action log names them', max: 255, example: 'console' })
  actor!: string;

  @TextField({ description: 'Name or e-mail address of a person', max: 255, optional: true })
  person?: string;

  @TextField({ description: 'Address from which a shared link was opened', max: 64, optional: true })
  address?: string;
}
