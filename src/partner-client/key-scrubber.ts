import { redactSecrets, redactUrls, secretForms } from '../outbound/redaction.js';

/** Shorter keys could be words of the data itself; in sentences they are cut all the same. */
const SHORTEST_IN_DATA = 8;

/** Keeps our keys out of all that leaves this room, also where a partner echoes them back at us (decision 18). */
export class KeyScrubber {
  private readonly inData: readonly string[];
  private readonly forms: readonly string[];

  constructor(private readonly keys: readonly string[]) {
    this.inData = keys.filter((key) => key.length >= SHORTEST_IN_DATA);
    this.forms = secretForms(this.inData);
  }

  /** For messages, logs and whatever else is read by people; links lose what may be a signature. */
  sentence(text: string): string {
    return redactUrls(redactSecrets(text, this.keys));
  }

  /** `JSON.parse` of a text, values and names freed of our keys; how deep it is nested is the caller's business. */
  parse(json: string): unknown {
    const value: unknown = JSON.parse(json);
    // A look at the text is far cheaper than a walk through the values; an escape can hide any character from it.
    const suspicious = this.forms.length > 0 && (json.includes('\\') || this.hasKey(json));
    return suspicious ? this.value(value) : value;
  }

  private value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((element) => this.value(element));
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [this.text(name), this.value(entry)]));
  }

  /** To find nothing costs a fraction of what a replacement does: an answer may have a million texts. */
  private text(text: string): string {
    return text.length >= SHORTEST_IN_DATA && this.hasKey(text) ? redactSecrets(text, this.inData) : text;
  }

  private hasKey(text: string): boolean {
    return this.forms.some((form) => text.includes(form));
  }
}
