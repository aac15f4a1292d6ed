import type { RuleName } from '../rules.js';

/** What the decorators of fields take after the description. */
export interface Options {
  /** May be absent; `null` counts as absent (decision 5). */
  readonly optional?: boolean;
  /** In answers: always present, `null` without a value. */
  readonly nullable?: boolean;
  readonly example?: unknown;
}

export interface QueryOptions extends Options {
  /** The value arrives as text. */
  readonly inQuery?: boolean;
}

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

export interface IntegerOptions extends QueryOptions, Bounds {
  readonly default?: number;
  /** Reads a larger number as `max`. */
  readonly orMore?: boolean;
}

export interface TextOptions extends Options, Bounds {
  readonly pattern?: RegExp;
  /** Describes the value in messages, `must be …`. With a pattern it also describes the length. */
  readonly form?: string;
  readonly format?: string;
  /** Name of the rule in violations, if the default one would mislead. */
  readonly rule?: RuleName;
  readonly values?: readonly string[];
  /** A condition that a pattern cannot express. */
  readonly check?: (value: string) => boolean;
  /** Of a request: only `HTTP_BODY_LIMIT` bounds it. */
  readonly isUnbounded?: boolean;
}

export type ListOptions = Options & Bounds;

/** Limits of a map: its entries, and the characters of a name and of a value. */
export interface TextMapLimits {
  readonly maxEntries: number;
  readonly maxName: number;
  readonly maxValue: number;
}

export const optional = { optional: true } as const;
export const nullable = { nullable: true } as const;
export const inQuery = { inQuery: true } as const;
export const example = <Value>(value: Value) => ({ example: value });
/** Bounds of a number, of the length of a text in characters, or of the elements of a list. */
export const min = (value: number) => ({ min: value });
export const max = (value: number) => ({ max: value });
export const between = (from: number, to: number) => ({ min: from, max: to });
