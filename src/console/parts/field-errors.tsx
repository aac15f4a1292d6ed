import { createContext } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { CallError, sentence } from '../client/api.js';

/** What the service found wrong in the fields of a form, by their names. */
export const FieldErrors = createContext<ReadonlyMap<string, string>>(new Map());

/** The errors that belong to fields of the form; the error of the call if another part of it failed. */
export function sortErrors(error: CallError | undefined, isField: (name: string) => boolean) {
  const named = (error?.violations ?? []).map(({ path, message }) => {
    // A list is one field: `interfaces[2]` belongs to `interfaces`.
    const name = path.split(/[.[]/)[0] ?? '';
    return { name, text: sentence(withoutName(message, path)) };
  });
  const ofFields = new Map(
    named.filter(({ name }) => name !== '' && isField(name)).map((each) => [each.name, each.text]),
  );
  const isWhole = named.length > 0 && named.every(({ name }) => ofFields.has(name));
  return { ofFields, ofForm: isWhole ? undefined : error };
}

/** The label of the field names it already. */
const withoutName = (message: string, path: string): string =>
  message.startsWith(`${path} `) ? message.slice(path.length + 1).replace(/^is refused: /, '') : message;

interface FieldError {
  readonly id: string;
  readonly text: string | undefined;
  /** For the element that has the value. */
  readonly attributes: { readonly 'aria-invalid'?: 'true'; readonly 'aria-describedby'?: string };
}

export function useFieldError(name: string): FieldError {
  const text = useContext(FieldErrors).get(name);
  const id = useId();
  return { id, text, attributes: text === undefined ? {} : { 'aria-invalid': 'true', 'aria-describedby': id } };
}

/** Outside the label of its field, whose name it would change. */
export const FieldMessage = ({ of: { id, text } }: { of: FieldError }) =>
  text === undefined ? null : (
    <p class="field-error" id={id} role="alert">
      {text}
    </p>
  );

/** For a group of elements with one name. */
export const FieldErrorOf = ({ name }: { name: string }) => <FieldMessage of={useFieldError(name)} />;
