import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import { CallError, sentence } from '../client/api.js';
import type { AdminRole } from '../../contracts/common/roles.values.js';
import { focusOn } from '../client/focus.js';
import { useAction } from '../client/load.js';
import { type Needs, SessionContext, useSession } from '../client/session.js';
import { ErrorBox } from './states.js';

/** What the service found wrong in the fields of a form, by their names. */
const FieldErrors = createContext<ReadonlyMap<string, string>>(new Map());

/** The errors that belong to fields of the form; the error of the call if another part of it failed. */
function sortErrors(error: CallError | undefined, isField: (name: string) => boolean) {
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

function useFieldError(name: string): FieldError {
  const text = useContext(FieldErrors).get(name);
  const id = useId();
  return { id, text, attributes: text === undefined ? {} : { 'aria-invalid': 'true', 'aria-describedby': id } };
}

/** Outside the label of its field, whose name it would change. */
const FieldMessage = ({ of: { id, text } }: { of: FieldError }) =>
  text === undefined ? null : (
    <p class="field-error" id={id} role="alert">
      {text}
    </p>
  );

/** For a group of elements with one name. */
export const FieldErrorOf = ({ name }: { name: string }) => <FieldMessage of={useFieldError(name)} />;

/** The id of the head of a row: the name of a button says of which row it is. */
export const RowHead = createContext<string | undefined>(undefined);

interface ActionButtonProps {
  readonly label: string;
  readonly work: () => Promise<unknown>;
  readonly kind?: 'primary' | 'danger' | undefined;
  readonly busy?: string;
  /** The consequence of the action, perhaps as a dry run counts it. If present, the button must be pressed twice. */
  readonly confirm?: string | (() => Promise<string>) | undefined;
  /** Also for a session that may only read. */
  readonly isRead?: boolean;
  /** Where it is another role than that of the page. */
  readonly needs?: AdminRole;
  /** The call is also made when the button appears. */
  readonly isAtOnce?: boolean;
}

/** A button that makes a call and shows its error. */
export function ActionButton(props: ActionButtonProps) {
  const { label, kind, confirm, busy = `${label} …`, isRead = false, isAtOnce = false } = props;
  const { canWrite, may, refusalOf } = useSession();
  const id = useId();
  const row = useContext(RowHead);
  const action = useAction<undefined>(props.work);
  const [asked, setAsked] = useState<string>();
  const ask = useAction<undefined>(async () => setAsked(typeof confirm === 'function' ? await confirm() : confirm));
  const isRefused = !isRead && !(props.needs === undefined ? canWrite : may(props.needs));
  useEffect(() => {
    if (isAtOnce && !isRefused) action.run(undefined).catch(reportError);
  }, []);
  if (asked !== undefined) {
    return (
      <span class="confirm" role="group" aria-label={label} aria-describedby={id} ref={focusOn}>
        <span id={id}>{asked}</span>
        <button
          type="button"
          class="danger"
          onClick={() => {
            setAsked(undefined);
            action.run(undefined).catch(reportError);
          }}
        >
          {label}
        </button>
        <button type="button" onClick={() => setAsked(undefined)}>
          Cancel
        </button>
      </span>
    );
  }
  const error = action.error ?? ask.error;
  return (
    <>
      <button
        type="button"
        id={id}
        aria-labelledby={row && `${id} ${row}`}
        class={kind ?? ''}
        disabled={action.isRunning || ask.isRunning || isRefused}
        title={isRefused ? refusalOf(props.needs) : undefined}
        onClick={() => void (confirm === undefined ? action : ask).run(undefined)}
      >
        {action.isRunning ? busy : label}
      </button>
      {error !== undefined && <ErrorBox error={error} />}
    </>
  );
}

/** A part of a page whose changes need something else than those of the page. */
export function Needing({ children, ...needs }: Needs & { readonly children: ComponentChildren }) {
  const session = useContext(SessionContext);
  return <SessionContext.Provider value={{ ...session, ...needs }}>{children}</SessionContext.Provider>;
}

/** Leads to a form; not for a session whose change would be refused. Beside it stands the link to a guide. */
export const NewLink = ({ href, label, children }: { href: string; label: string; children?: ComponentChildren }) => (
  <p class="actions">
    {useSession().canWrite && (
      <a class="button primary" href={href}>
        {label}
      </a>
    )}
    {children}
  </p>
);

interface FormProps {
  readonly title: string;
  readonly submit: string;
  readonly work: (values: FormData) => Promise<unknown>;
  readonly onCancel?: () => void;
  readonly children: ComponentChildren;
}

/** A form that keeps what was typed where the call fails. What is wrong in a field stands beside the field. */
export function Form({ title, submit, work, onCancel, children }: FormProps) {
  const { canWrite, refusalOf } = useSession();
  const action = useAction<FormData>(work);
  const form = useRef<HTMLFormElement>(null);
  const { ofFields, ofForm } = sortErrors(action.error, (name) => form.current?.elements.namedItem(name) != null);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [action.error]);
  useEffect(() => {
    const opener = document.activeElement;
    // One that is opened on demand.
    if (onCancel === undefined) return undefined;
    focusOn(form.current);
    return () => focusOn(opener);
  }, []);
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    action.run(new FormData(event.currentTarget as HTMLFormElement)).catch(reportError);
  };
  return (
    <form class="card form" aria-label={title} onSubmit={send} ref={form}>
      <h2>{title}</h2>
      {!canWrite && <p class="notice">{refusalOf()}</p>}
      <FieldErrors.Provider value={ofFields}>{children}</FieldErrors.Provider>
      {ofForm !== undefined && <ErrorBox error={ofForm} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={action.isRunning || !canWrite}>
          {submit}
        </button>
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

interface InputProps {
  readonly name: string;
  readonly label: string;
  readonly value?: string | number | undefined;
  readonly type?: 'text' | 'url' | 'number' | 'password' | 'datetime-local';
  readonly isRequired?: boolean;
  readonly hint?: string;
  readonly onInput?: (value: string) => void;
}

/** An element of a form below its label. */
export const Field = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <label class="field">
    <span>{label}</span>
    {children}
  </label>
);

export function Input({ name, label, value, type = 'text', isRequired = false, hint, onInput }: InputProps) {
  // Preact declares each input type with its own roles, so that a union of them does not compile.
  const attributes = { type } as { readonly type: 'text' };
  const error = useFieldError(name);
  return (
    <>
      <Field label={label}>
        <input
          name={name}
          {...attributes}
          defaultValue={value === undefined ? '' : String(value)}
          required={isRequired}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onInput?.(event.currentTarget.value)}
          {...error.attributes}
        />
        {hint !== undefined && <small class="hint">{hint}</small>}
      </Field>
      <FieldMessage of={error} />
    </>
  );
}

/** A value of a `select` with its label; a text is both. */
export type Choice = string | readonly [value: string, label: string];

/** The options of a `select`. */
export function Options({ choices }: { choices: readonly Choice[] }) {
  return (
    <>
      {choices.map((choice) => {
        const [value, label] = typeof choice === 'string' ? [choice, choice] : choice;
        return (
          <option key={value} value={value}>
            {label}
          </option>
        );
      })}
    </>
  );
}

interface ChooserProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChoose: (value: string) => void;
}

/** A choice that changes the page at once. */
export const Chooser = ({ label, value, choices, onChoose }: ChooserProps) => (
  <Field label={label}>
    <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      <Options choices={choices} />
    </select>
  </Field>
);

interface SelectProps extends Pick<InputProps, 'name' | 'label' | 'isRequired'> {
  readonly choices: readonly Choice[];
  /** The choice at first; its option may be loaded later. */
  readonly value?: string | undefined;
}

export function Select({ name, label, choices, value, isRequired = false }: SelectProps) {
  const [chosen, setChosen] = useState(value);
  const error = useFieldError(name);
  // A necessary choice of several is made by the user, not by the order of a list.
  const isOpen = isRequired && chosen === undefined && choices.length > 1;
  return (
    <>
      <Field label={label}>
        <select
          name={name}
          required={isRequired}
          value={isOpen ? '' : chosen}
          onChange={(event) => setChosen(event.currentTarget.value)}
          {...error.attributes}
        >
          {isOpen && <option value="">Choose …</option>}
          <Options choices={choices} />
        </select>
      </Field>
      <FieldMessage of={error} />
    </>
  );
}

/** The text of a field; undefined where it is empty. */
function fieldText(values: FormData, name: string): string | undefined {
  const value = values.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** How the text of a field becomes a value of the body; all of its texts where it has several. */
type Converters<Body> = {
  readonly [Name in keyof Body]?: (text: string, all: readonly string[]) => Body[Name];
};

/** The filled fields of a form as the body of a call. What lacks or is wrong, the service says. */
export function bodyOf<Body extends object>(form: FormData, converters: NoInfer<Converters<Body>> = {}): Body {
  const filled = [...new Set(form.keys())].flatMap((name) => {
    const text = fieldText(form, name);
    const convert = converters[name as keyof Body];
    return text === undefined
      ? []
      : [[name, convert === undefined ? text : convert(text, form.getAll(name).map(String))]];
  });
  return Object.fromEntries(filled) as Body;
}

/** A `datetime-local` field as an instant; the service says what is wrong with any other text. */
export function instantOf(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
