import { createHash } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** `Default_Ignorable_Code_Point` of Unicode, for PostgreSQL. */
const NOT_SHOWN =
  '[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f' +
  '\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff]';

const BATCH = 1_000;

interface Row {
  readonly hauler_id: string;
  readonly id: string;
  readonly values: readonly (string | null)[];
}

/**
 * Names are compared and searched without characters that are not shown. Of accounts whose names are the same now, the oldest has
 * the name; the others stay as they are, and are found by their number.
 */
export class ReadNamesAsShown1795730002000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (let rows: Row[] | undefined; rows === undefined || rows.length === BATCH;) {
      const last: Row | undefined = rows?.at(-1);
      rows = (await queryRunner.query(
        `SELECT hauler_id, id, ARRAY[account_name, account_number, email] AS values FROM accounts
         WHERE (account_name ~ $1 OR email ~ $1) AND ($2::uuid IS NULL OR (id, hauler_id) > ($2, $3::uuid))
         ORDER BY id, hauler_id LIMIT ${BATCH}`,
        [NOT_SHOWN, last?.id ?? null, last?.hauler_id ?? null],
      )) as Row[];
      for (const { hauler_id, id, values } of rows) {
        const digest = createHash('sha256')
          .update(normalised(values[0] ?? ''))
          .digest();
        const text = values.flatMap((value) => (value === null ? [] : [`  ${spread(value)}`])).join('\n');
        await queryRunner.query(
          `UPDATE accounts AS a SET search_text = $3, name_digest = CASE WHEN EXISTS (
             SELECT FROM accounts AS other WHERE other.hauler_id = $1 AND other.name_digest = $4) THEN a.name_digest ELSE $4 END
           WHERE hauler_id = $1 AND id = $2`,
          [hauler_id, id, text, digest],
        );
      }
    }
  }
}

const spread = (value: string): string => normalised(value).replaceAll(' ', '  ');

/** As `accounts/account-name.ts` does from this version on. */
function normalised(name: string): string {
  const ignored = /\p{Default_Ignorable_Code_Point}+/gu;
  const shown = name.replace(ignored, '').normalize('NFKC').replace(ignored, '');
  const folded = shown.replace(/[^ı]+/g, (part) => part.toLowerCase().toUpperCase());
  return folded
    .normalize('NFKC')
    .replace(/\p{White_Space}+/gu, ' ')
    .trim();
}
