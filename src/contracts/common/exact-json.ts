import { withoutMark } from './json.js';

/** A JSON text, valid as it stands, that goes into an answer unread. */
export class JsonText {
  readonly text: string;

  /** A byte order mark may stand before a document, never inside one. */
  constructor(text: string) {
    this.text = withoutMark(text);
  }
}

/**
 * The JSON of an object whose fields may be `JsonText`; undefined ones are left out. Their numbers come out digit by
 * digit as they went in, 1e309 and -0 included (decision 25). To parse such a text and to write it again would hold up
 * everyone else: 1.3 s for a megabyte of numbers.
 */
export function exactJson(fields: object): string {
  const members = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${JSON.stringify(name)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`,
    );
  return `{${members.join(',')}}`;
}
