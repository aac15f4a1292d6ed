import { type Instant, instantOf } from '../../contracts/common/instant.js';
import { type Read, readerOf } from '../../contracts/common/fields/field.js';
import { storableText } from '../../contracts/common/text.js';
import { summarise, type Violation } from '../../contracts/common/violation.js';
import { isWithoutParent, Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import { type AnswerRecord, recordTooLarge } from '../../partner-client/partner-answer.js';
import { type Kind, KINDS } from './kinds.js';

/** The lists of an answer that contain records. */
export const RECORD_LISTS = KINDS.map((kind) => `data.${kind}`);

/** The content of each kind: all columns except the id, `updatedAt` and `active`. A change of `active` has its own name. */
export const CONTENT_COLUMNS = {
  sites: ['name', 'line1', 'city', 'state', 'country', 'zip_code'],
  kiosks: ['site_external_id', 'name'],
  materials: ['site_external_id', 'kiosk_external_id', 'material_type', 'measure_unit'],
} as const satisfies Record<Kind, readonly string[]>;

/** The columns that are copied into the staging table, in the order of `Row`. */
export const STAGED_COLUMNS = {
  kind: 'text',
  position: 'integer',
  external_id: 'uuid',
  active: 'boolean',
  partner_updated_at: 'timestamptz',
  fault_path: 'text',
  fault: 'text',
  raw: 'text',
  name: 'text',
  line1: 'text',
  city: 'text',
  state: 'text',
  country: 'text',
  zip_code: 'text',
  site_external_id: 'uuid',
  kiosk_external_id: 'uuid',
  material_type: 'text',
  measure_unit: 'text',
} as const;

type Cell = string | null | undefined;
type Content = Partial<Record<(typeof CONTENT_COLUMNS)[Kind][number], Cell>>;
const CONTENT_NAMES = Object.keys(STAGED_COLUMNS).slice(8) as (keyof Content)[];

/** A clock in another time zone is tolerated; a wrong year would make every later answer stale. */
const FUTURE_TOLERANCE_MS = 24 * 3_600_000;

/** A quarantined record is stored up to this length. */
const MAX_RAW_LENGTH = 8_000;

type RecordOf<K extends Kind> = { sites: Site; kiosks: Kiosk; materials: Material }[K];

const READERS: { readonly [K in Kind]: Read<RecordOf<K>> } = {
  sites: readerOf(Site),
  kiosks: readerOf(Kiosk),
  materials: readerOf(Material),
};

const contentOf: { readonly [K in Kind]: (record: RecordOf<K>) => Content } = {
  sites: ({ name, address }) => ({
    name,
    line1: address?.line1,
    city: address?.city,
    state: address?.state,
    country: address?.country,
    zip_code: address?.zipCode,
  }),
  kiosks: ({ siteId, name }) => ({ site_external_id: siteId, name }),
  materials: ({ siteId, kioskId, materialType, measureUnit }) => ({
    site_external_id: siteId,
    kiosk_external_id: kioskId,
    material_type: materialType,
    measure_unit: measureUnit,
  }),
};

/** Validates the records of an answer and writes them in the text format of COPY. */
export class RecordStager {
  private readonly latest: Instant;

  constructor(now: Date) {
    this.latest = instantOf(new Date(now.getTime() + FUTURE_TOLERANCE_MS));
  }

  copyText(records: readonly AnswerRecord[]): string {
    let text = '';
    for (const record of records) text += this.row(record);
    return text;
  }

  private row({ list, index, value, text }: AnswerRecord): string {
    const kind = list.slice('data.'.length) as Kind;
    const path = `${kind}[${index}]`;
    if (text === undefined) return copyRow(this.faultyRow(kind, index, undefined, [recordTooLarge(path)], 'null'));
    const violations: Violation[] = [];
    const record = READERS[kind](value, path, violations);
    if (violations.length === 0) violations.push(...this.recordFaults(kind, record, path));
    if (violations.length > 0) return copyRow(this.faultyRow(kind, index, record.id, violations, text));
    const { id, active, updatedAt } = record;
    const content = contentOf[kind](record as Site & Kiosk & Material);
    const cells: Cell[] = [kind, String(index), id, active === false ? 'f' : 't', updatedAt, null, null, text];
    for (const name of CONTENT_NAMES) cells.push(content[name]);
    return copyRow(cells);
  }

  private faultyRow(kind: Kind, index: number, id: string | undefined, violations: Violation[], raw: string): Cell[] {
    const fault = storableText(summarise(violations));
    return [kind, String(index), id, null, null, storableText(violations[0]?.path ?? ''), fault, raw];
  }

  private recordFaults(kind: Kind, record: Site | Kiosk | Material, path: string): Violation[] {
    if (kind === 'materials' && isWithoutParent(record as Material)) {
      return [{ path, rule: 'hasParent', message: `${path} has neither a siteId nor a kioskId` }];
    }
    if (record.updatedAt === undefined || record.updatedAt <= this.latest) return [];
    return [{ path: `${path}.updatedAt`, rule: 'isPast', message: `${path}.updatedAt lies in the future` }];
  }
}

const WIDTH = Object.keys(STAGED_COLUMNS).length;
const RAW = Object.keys(STAGED_COLUMNS).indexOf('raw');
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function copyRow(cells: readonly Cell[]): string {
  let row = '';
  for (let i = 0; i < WIDTH; i++) {
    if (i > 0) row += '\t';
    const cell = cells[i];
    if (cell == null) row += '\\N';
    else {
      const text = i === RAW && cell.length > MAX_RAW_LENGTH ? cell.slice(0, MAX_RAW_LENGTH) : cell;
      row += /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '') : text;
    }
  }
  return `${row}\n`;
}
