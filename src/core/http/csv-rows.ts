import { isUtf8 } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { type AppError, invalid } from '../errors/app-error.js';

/** A longer row is a sign of a quote that is not closed: it would make one row of the rest of the file. */
const MAX_ROW_BYTES = 65_536;

const NEWLINE = 0x0a;
const CONTINUATION = 0x80;

export interface CsvRow {
  /** Where the row begins. */
  readonly line: number;
  readonly cells: readonly string[];
}

interface ParsedRow {
  readonly record: string[];
  readonly info: Info;
}

const atLine = (line: number, message: string): AppError =>
  invalid([{ path: '', rule: 'isCsv', message: `line ${line}: ${message}` }]);

/**
 * The rows of a CSV (RFC 4180; CR LF, LF or CR) with their lines, rows without any content left out. Throws `invalid` with the
 * line where the file is no CSV.
 */
export async function* csvRows(bytes: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<CsvRow> {
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    max_record_size: MAX_ROW_BYTES,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
  });
  // The iterator of the parser throws the error of either stream.
  pipeline(Readable.from(bytes), parser, () => undefined);
  // Within quotes the parser counts a CR LF as two lines.
  let twice = 0;
  let next = 1;
  try {
    for await (const { record, info } of parser as AsyncIterable<ParsedRow>) {
      const [breaks, pairs] = breaksIn(record);
      twice += pairs;
      next = info.lines - twice + 1;
      yield { line: next - 1 - breaks, cells: record };
    }
  } catch (error) {
    throw error instanceof CsvError ? fault(error, next, twice) : error;
  }
}

/** Line breaks in the cells, and how many of them are a CR LF. */
function breaksIn(cells: readonly string[]): [breaks: number, pairs: number] {
  let [breaks, pairs] = [0, 0];
  for (const cell of cells) {
    if (!cell.includes('\n') && !cell.includes('\r')) continue;
    for (const [found] of cell.matchAll(/\r\n|\r|\n/g)) {
      breaks += 1;
      if (found.length === 2) pairs += 1;
    }
  }
  return [breaks, pairs];
}

function fault(error: CsvError, next: number, twice: number): AppError {
  const line = Number(error['lines']) - twice;
  switch (error.code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return atLine(next, 'the row that begins here has a quotation mark that is not closed');
    case 'CSV_MAX_RECORD_SIZE':
      return atLine(
        next,
        `the row that begins here is larger than ${MAX_ROW_BYTES} bytes: is a quotation mark missing?`,
      );
    case 'INVALID_OPENING_QUOTE':
      return atLine(line, 'a quotation mark within a cell: put the cell in quotation marks, and write the mark twice');
    case 'CSV_INVALID_CLOSING_QUOTE':
      return atLine(line, 'text after a closing quotation mark: a mark within a cell is written twice');
    default:
      return atLine(line, error.message);
  }
}

/** `;` where the first line has more of them than commas. Names of columns have neither. */
export function delimiterOf(head: Buffer): ',' | ';' {
  const [line = ''] = head
    .toString('utf8')
    .replace(/^\ufeff?[\r\n]*/, '')
    .split(/[\r\n]/, 1);
  return line.split(';').length > line.split(',').length ? ';' : ',';
}

const UTF8 = 'save the file as CSV UTF-8';

/** Throws `invalid` for the first bytes of what is no text in UTF-8, such as a workbook. */
function refuseOtherFormats(head: Buffer): void {
  if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 0x03)
    throw atLine(1, `the file is a workbook, not CSV: ${UTF8}`);
  const mark = head.subarray(0, 2).toString('hex');
  if (mark === 'fffe' || mark === 'feff') throw atLine(1, `the file is in UTF-16: ${UTF8}`);
}

/** The same bytes. Throws `invalid` with the line where they are not UTF-8, or where nothing is in them. */
export async function* utf8Bytes(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let size = 0;
  for await (const chunk of bytes) {
    if (size === 0) refuseOtherFormats(chunk);
    size += chunk.length;
    const lines = decodes(decoder, chunk) ? linesOf(chunk) : [];
    if (lines.length === 0) throw notUtf8(line + firstWrong(chunk));
    line += lines.length - 1;
    yield chunk;
  }
  if (size === 0) throw atLine(1, 'the file is empty: the first line has the names of the columns');
  if (!decodes(decoder)) throw notUtf8(line);
}

const notUtf8 = (line: number): AppError => atLine(line, `the text is not UTF-8: ${UTF8}`);

function decodes(decoder: TextDecoder, chunk?: Buffer): boolean {
  try {
    decoder.decode(chunk, { stream: chunk !== undefined });
    return true;
  } catch {
    return false;
  }
}

function linesOf(chunk: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
    lines.push(chunk.subarray(start, end));
    start = end + 1;
  }
  return [...lines, chunk.subarray(start)];
}

/** The first line of the chunk that is not UTF-8, from 0. The chunk may begin within a character. */
function firstWrong(chunk: Buffer): number {
  let start = 0;
  while (start < 3 && ((chunk[start] ?? 0) & 0xc0) === CONTINUATION) start++;
  return Math.max(
    0,
    linesOf(chunk.subarray(start)).findIndex((line) => !isUtf8(line)),
  );
}
