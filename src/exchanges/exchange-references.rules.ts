import { hash } from 'node:crypto';
import { parseReference, type Reference, type ReferenceKind } from '../contracts/common/references.js';

/** Names that many haulers give to different things. */
const SHARED_KINDS: ReadonlySet<ReferenceKind> = new Set(['truckId', 'cameraId']);

const SCOPED = '@';

/**
 * The elements of `exchanges.refs`: `kind:value`. A name that haulers share has a further element with the hauler, so that the index
 * finds the few of one hauler among the many of the others.
 */
export function storedReferences(haulerId: string | null, references: readonly Reference[]): string[] {
  const elements = references.map(elementOf);
  if (haulerId === null) return elements;
  const shared = references.filter(({ kind }) => SHARED_KINDS.has(kind));
  return [...elements, ...shared.map((reference) => scopedElement(haulerId, reference))];
}

/** The element by which exchanges are found, of one hauler or of all. */
export const soughtElement = (reference: Reference, haulerId: string | undefined): string =>
  haulerId !== undefined && SHARED_KINDS.has(reference.kind)
    ? scopedElement(haulerId, reference)
    : elementOf(reference);

/** The references as a caller sees them. */
export const shownReferences = (elements: readonly string[] | null): Reference[] =>
  (elements ?? []).flatMap((element) => (element.startsWith(SCOPED) ? [] : (parseReference(element) ?? [])));

/** PostgreSQL indexes no value of more than 2,704 bytes. */
const MAX_LENGTH = 512;
const MAX_SHOWN = 400;

const elementOf = ({ kind, value }: Reference): string =>
  `${kind}:${value.length <= MAX_LENGTH ? value : `${value.slice(0, MAX_SHOWN).toWellFormed()}… ${hash('sha256', value)}`}`;

const scopedElement = (haulerId: string, reference: Reference): string =>
  `${SCOPED}${haulerId}:${elementOf(reference)}`;
