import { MAX_JSON_DEPTH } from '../contracts/common/json.js';
import { redactSecrets, redactUrls, secretForms } from '../outbound/redaction.js';

/** A shorter key could be a word of the data. In sentences, shorter keys are removed as well. */
const MIN_KEY_LENGTH_IN_DATA = 8;

/** Removes our keys from everything that leaves this folder, because a partner may echo them (decision 18). */
export class KeyScrubber {
  private readonly dataKeys: readonly string[];
  private readonly forms: readonly string[];

  constructor(private readonly keys: readonly string[]) {
    this.dataKeys = keys.filter((key) => key.length >= MIN_KEY_LENGTH_IN_DATA);
    this.forms = secretForms(this.dataKeys);
  }

  /** For messages and logs; the query of a link is removed as well, because it may be a signature. */
  sentence(text: string): string {
    return redactUrls(redactSecrets(text, this.keys));
  }

  /** `JSON.parse` without our keys in names and values, and with 0 for a value that is nested deeper than 32. */
  parse(json: string): unknown {
    const value: unknown = JSON.parse(json);
    return this.mayHaveKey(json) || isDeeper(value, MAX_JSON_DEPTH) ? this.clean(value, MAX_JSON_DEPTH) : value;
  }

  /** The same for one record, with its JSON text. The depth is not checked: nobody walks through a whole record. */
  parseRecord(json: string): { readonly value: unknown; readonly text: string } {
    const value: unknown = JSON.parse(json);
    if (!this.mayHaveKey(json)) return { value, text: json };
    const clean = this.clean(value, MAX_JSON_DEPTH);
    return { value: clean, text: JSON.stringify(clean) };
  }

  /** Searching the text is far cheaper than walking through the values. An escape can hide any character. */
  private mayHaveKey(json: string): boolean {
    return this.forms.length > 0 && (json.includes('\\') || this.hasKey(json));
  }

  private clean(value: unknown, levels: number): unknown {
    if (typeof value === 'string') return this.cleanText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (levels === 0) return 0;
    if (Array.isArray(value)) return value.map((element) => this.clean(element, levels - 1));
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [this.cleanText(name), this.clean(entry, levels - 1)]),
    );
  }

  private cleanText(text: string): string {
    return text.length >= MIN_KEY_LENGTH_IN_DATA && this.hasKey(text) ? redactSecrets(text, this.dataKeys) : text;
  }

  private hasKey(text: string): boolean {
    return this.forms.some((form) => text.includes(form));
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((entry) => isDeeper(entry, levels - 1));
}
