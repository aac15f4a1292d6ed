import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { InvalidJsonError, isJsonObject, JsonTextCheck, parseJson } from '../../contracts/common/json.js';
import { readerOf } from '../../contracts/common/fields/field.js';
import type { Violation } from '../../contracts/common/violation.js';
import { isWithoutParent, Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import { invalid } from '../../errors/app-error.js';
import { type JsonRecord, JsonRecordStream, JsonStreamError } from '../../json/json-record-stream.js';

/** The data of a hauler as an admin submitted it. */
export interface SubmittedSiteData {
  readonly sites: Site[];
  readonly kiosks: Kiosk[];
  readonly materials: Material[];
}

const KINDS = ['sites', 'kiosks', 'materials'] as const;
type Kind = (typeof KINDS)[number];

const READERS = { sites: readerOf(Site), kiosks: readerOf(Kiosk), materials: readerOf(Material) };

/** A body can have a million records. The event loop gets its turn after each slice, which takes a few milliseconds. */
const SLICE_BYTES = 65_536;
const SLICE_RECORDS = 10_000;

/**
 * Reads a JSON body; `violations` names every fault (section 2.4a, decisions 8, 11 and 32). Throws `invalid` if the body
 * is not JSON.
 */
export async function readSiteData(
  body: Buffer,
): Promise<{ data: SubmittedSiteData; violations: readonly Violation[] }> {
  if (!isUtf8(body)) throw invalid([{ path: '', rule: 'isUtf8', message: 'the body must be UTF-8' }]);
  const stream = new JsonRecordStream(KINDS);
  const reading = new SiteDataReading();
  try {
    for await (const records of stream.batches(slicesOf(body))) {
      for (const record of records) reading.addRecord(record);
    }
    reading.addEnvelope(parseJson(stream.envelope()));
  } catch (error) {
    throw invalidBody(error);
  }
  await reading.checkParents();
  return { data: reading.data, violations: reading.violations() };
}

async function* slicesOf(body: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < body.length; start += SLICE_BYTES) {
    yield body.subarray(start, start + SLICE_BYTES);
    await setImmediate();
  }
}

function invalidBody(error: unknown): unknown {
  if (error instanceof JsonStreamError && error.kind === 'breach') {
    const { path, message } = error;
    return invalid([{ path, rule: 'isReadable', message: `${path === '' ? 'the body' : path} ${message}` }]);
  }
  if (!(error instanceof JsonStreamError || error instanceof InvalidJsonError)) return error;
  return invalid([{ path: '', rule: 'isJson', message: 'the body must be valid JSON' }]);
}

class SiteDataReading {
  readonly data: SubmittedSiteData = { sites: [], kiosks: [], materials: [] };
  private readonly envelopeText = new JsonTextCheck();
  private readonly recordText = new JsonTextCheck();
  private readonly envelopeViolations: Violation[] = [];
  private readonly recordViolations: Violation[] = [];
  /** Index of the first record with an id. */
  private readonly indexById: Readonly<Record<Kind, Map<string, number>>> = {
    sites: new Map(),
    kiosks: new Map(),
    materials: new Map(),
  };

  addEnvelope(envelope: unknown): void {
    this.envelopeText.check(envelope);
    if (!isJsonObject(envelope)) {
      this.envelopeViolations.push({ path: '', rule: 'isObject', message: 'the body must be an object' });
      return;
    }
    for (const kind of KINDS) {
      const list = Object.hasOwn(envelope, kind) ? envelope[kind] : null;
      if (list === null || Array.isArray(list)) continue;
      this.envelopeViolations.push({ path: kind, rule: 'isArray', message: `${kind} must be an array of elements` });
    }
  }

  /** Adds faulty records too, so that `checkParents` reports the index of a record in the body. */
  addRecord({ list, index, text }: JsonRecord): void {
    const kind = list as Kind;
    const path = `${kind}[${index}]`;
    if (text === undefined) {
      this.refuse(path, 'maxSize', `${path} must not be larger than 1 MiB`);
      (this.data[kind] as object[]).push({});
      return;
    }
    const value = parseJson(text);
    this.recordText.check(value, [kind, index], 3);
    const record = READERS[kind](value, path, this.recordViolations);
    const first = this.indexById[kind].get(record.id);
    if (first !== undefined) {
      this.refuse(`${path}.id`, 'isUnique', `${path}.id must not be the id of ${kind}[${first}] again`);
    } else if (record.id !== undefined) this.indexById[kind].set(record.id, index);
    if (kind === 'materials' && isJsonObject(value) && isWithoutParent(value)) {
      this.refuse(path, 'hasParent', `${path} must have a siteId, a kioskId or both`);
    }
    (this.data[kind] as object[]).push(record);
  }

  async checkParents(): Promise<void> {
    const { kiosks, materials } = this.data;
    for (const [i, { siteId }] of kiosks.entries()) {
      if (i % SLICE_RECORDS === 0) await setImmediate();
      this.expectKnown(`kiosks[${i}].siteId`, siteId, 'sites');
    }
    for (const [i, { siteId, kioskId }] of materials.entries()) {
      if (i % SLICE_RECORDS === 0) await setImmediate();
      this.expectKnown(`materials[${i}].siteId`, siteId, 'sites');
      this.expectKnown(`materials[${i}].kioskId`, kioskId, 'kiosks');
    }
  }

  /** The violations of the envelope come first. */
  violations(): Violation[] {
    const ofRecords = this.recordText.with([...this.envelopeViolations, ...this.recordViolations]);
    return this.envelopeText.with(ofRecords);
  }

  private expectKnown(path: string, id: string | undefined, kind: 'sites' | 'kiosks'): void {
    if (id === undefined || this.indexById[kind].has(id)) return;
    this.refuse(path, 'isKnown', `${path} must be the id of one of the ${kind} in the same body`);
  }

  private refuse(path: string, rule: string, message: string): void {
    this.recordViolations.push({ path, rule, message });
  }
}
