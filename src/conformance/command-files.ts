import { closeSync, openSync, readFileSync } from 'node:fs';
import { isJsonObject } from '../contracts/common/json.js';
import { type Report, RULE_ID } from './report/report.js';

/** The files that a command line names. */

/** A wrong call. The message is shown to the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A value of the user for a message. */
export const quoted = (value: string): string => JSON.stringify(value.slice(0, 100));

/** Checked before the run, because the report is written after it. */
export function checkWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new UsageError(`--out ${file} cannot be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`);
  }
}

const FIXTURE_FIELDS = ['haulerId', 'customerId', 'truckId', 'cameraId', 'from', 'to', 'siteId', 'materialId'];

export function readFixtureFile(file: string): Record<string, string> {
  const content = readJson(file, '--fixtures');
  if (!isJsonObject(content)) throw new UsageError(`--fixtures ${file} must be a JSON object`);
  for (const [name, value] of Object.entries(content)) {
    if (!FIXTURE_FIELDS.includes(name))
      throw new UsageError(
        `--fixtures ${file}: unknown name ${quoted(name)}; the names are ${FIXTURE_FIELDS.join(', ')}`,
      );
    if (typeof value !== 'string') throw new UsageError(`--fixtures ${file}: ${name} must be text`);
  }
  return content as Record<string, string>;
}

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `${option} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
    );
  }
}

function readJson(file: string, option: string): unknown {
  const content = readText(file, option);
  try {
    return JSON.parse(content) as unknown;
  } catch {
    throw new UsageError(`${option} ${file} is not JSON`);
  }
}

export function readReport(file: string, option: string): Report {
  const report = readJson(file, option);
  if (!isReport(report)) throw new UsageError(`${option} ${file} is not a JSON report of this kit`);
  return report;
}

const isReport = (value: unknown): value is Report =>
  isJsonObject(value) &&
  Array.isArray(value['rules']) &&
  value['rules'].every(
    (rule) => isJsonObject(rule) && typeof rule['id'] === 'string' && typeof rule['outcome'] === 'string',
  );

/** The failed rules of a report, or the ids of a text with one id a line; `#` begins a comment. */
export function readBaseline(file: string): readonly string[] {
  const content = readText(file, '--baseline');
  if (content.trimStart().startsWith('{')) {
    return readReport(file, '--baseline').rules.flatMap(({ id, outcome }) => (outcome === 'failed' ? [id] : []));
  }
  const ids = content.split('\n').map((line) => line.replace(/#.*/, '').trim());
  const wrong = ids.find((id) => id !== '' && !RULE_ID.test(id));
  if (wrong !== undefined) throw new UsageError(`--baseline ${file}: ${quoted(wrong)} is not the id of a rule`);
  return ids.filter((id) => id !== '');
}
