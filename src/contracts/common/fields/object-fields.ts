import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { isJsonObject } from '../json.js';
import { codePoints, isStorableText, STORABLE_TEXT } from '../text.js';
import { entriesRuled, faultOf, field, type FieldOptions, type InnerFault } from './field.js';

export function ObjectField(type: () => new () => object, options: FieldOptions): PropertyDecorator {
  return field(
    options,
    // Nest knows a lazy type by its name, `type`.
    { type: () => type() },
    { name: 'isObject', validate: isJsonObject, must: 'must be an object' },
    Type(type),
    ValidateNested(),
  );
}

export interface TextMapOptions extends FieldOptions {
  readonly maxEntries: number;
  readonly maxName: number;
  readonly maxValue: number;
}

/** A map whose values are all text; `null` is no text, even here where absent fields are (decision 5). */
export function TextMapField(options: TextMapOptions): PropertyDecorator {
  const { maxEntries, maxName, maxValue } = options;
  const faults = (value: unknown): InnerFault[] =>
    Object.entries(value as object).flatMap(([key, entry]) => {
      if (!isStorableText(key)) return [{ key, rule: 'isText', must: `must have a name that is ${STORABLE_TEXT}` }];
      if (codePoints(key) > maxName) return [{ key, must: `must have a name of at most ${maxName} characters` }];
      if (typeof entry !== 'string' || !isStorableText(entry) || codePoints(entry) > maxValue) {
        return [{ ...faultOf({ must: `must be text of at most ${maxValue} characters`, isOfText: true }, entry), key }];
      }
      return [];
    });
  return field(
    options,
    { type: 'object', additionalProperties: { type: 'string', maxLength: maxValue }, maxProperties: maxEntries },
    // Its size first, as a rule of its own: names beyond the bound are counted once and not looked at.
    {
      name: 'isTextMap',
      validate: (value) => isJsonObject(value) && Object.keys(value).length <= maxEntries,
      must: `must be an object of at most ${maxEntries} texts`,
    },
    entriesRuled('isTextMap', faults),
  );
}
