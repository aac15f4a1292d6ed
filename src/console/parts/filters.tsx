import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { change } from '../client/address.js';
import { useHaulers } from './values.js';

interface FilterProps {
  readonly name: string;
  readonly label: string;
  readonly query: URLSearchParams;
}

const TYPING_MS = 300;

/** Filters of a list. They stand in the address. On a phone the first two are shown, and a button shows the others. */
export function Filters({ label = 'Filters', children }: { label?: string; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(location.search !== '');
  return (
    <form
      class={`filters ${isOpen ? 'open' : ''}`}
      role="search"
      aria-label={label}
      onSubmit={(event) => event.preventDefault()}
    >
      {children}
      <button type="button" class="more-filters" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </button>
    </form>
  );
}

export function TextFilter({ name, label, query, hint }: FilterProps & { hint?: string }) {
  const inAddress = query.get(name) ?? '';
  const [text, setText] = useState(inAddress);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(inAddress), [inAddress]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change({ [name]: value.trim() }, { replace: true }), TYPING_MS);
  };
  return (
    <label class="field">
      <span>{label}</span>
      <input type="search" placeholder={hint} value={text} onInput={(event) => type(event.currentTarget.value)} />
    </label>
  );
}

export type Choice = readonly [value: string, label: string];

export function SelectFilter({
  name,
  label,
  query,
  choices,
  all = 'All',
  usual = '',
}: FilterProps & { choices: readonly Choice[]; all?: string | null; usual?: string | undefined }) {
  const value = query.get(name) ?? usual;
  const isListed = value === '' || choices.some(([choice]) => choice === value);
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => change({ [name]: event.currentTarget.value })}>
        {all !== null && <option value="">{all}</option>}
        {!isListed && <option value={value}>{value}</option>}
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** `usual` is the hauler that a page shows without a choice, where it cannot show all. */
export function HaulerFilter({ query, usual }: { query: URLSearchParams; usual?: string | undefined }) {
  const { data } = useHaulers();
  const choices = (data?.data ?? []).map(({ id, name }): Choice => [id, name]);
  const all = usual === undefined ? 'All haulers' : null;
  return <SelectFilter name="haulerId" label="Hauler" query={query} choices={choices} all={all} usual={usual} />;
}

/** A time of the address, in the zone of the browser. */
export function TimeFilter({ name, label, query }: FilterProps) {
  const value = query.get(name);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="datetime-local"
        value={value === null ? '' : localInput(new Date(value))}
        onChange={(event) => change({ [name]: instantText(event.currentTarget.value) })}
      />
    </label>
  );
}

const instantText = (text: string): string => (text === '' ? '' : new Date(text).toISOString());

/** The text of a `datetime-local` input. */
export function localInput(time: Date): string {
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The filters that are set, for a call. */
export function pick(query: URLSearchParams, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])));
}
