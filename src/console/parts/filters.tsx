import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { change, type PageProps } from '../client/address.js';
import { useConnectionChoices, useConnectionName, useHaulerName, useHaulers } from '../client/haulers.js';
import { type Choice, Chooser, Field, Options } from './forms.js';
import { Time } from './values.js';
import { browserZone, isZone } from './zone.rules.js';

interface FilterProps {
  readonly name: string;
  readonly label: string;
  readonly query: URLSearchParams;
}

const TYPING_MS = 300;

interface FiltersProps {
  readonly label?: string | undefined;
  readonly children: ComponentChildren;
  /** Where there are many: the first four are shown, and a button for the others. */
  readonly folded?: boolean | undefined;
}

/** Filters of a list, which the address contains. A phone shows the first two, and a button for the others. */
export function Filters({ label = 'Filters', children, folded }: FiltersProps) {
  const [isOpen, setOpen] = useState(folded === false);
  return (
    <form
      class={`filters ${isOpen ? 'open' : ''} ${folded === undefined ? '' : 'many'}`}
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

/** The filters that are chosen, also those that no field shows. Each is removed by a press. */
export function ChosenFilters({ filters, query }: PageProps & { filters: readonly Filter[] }) {
  const chosen = filters.filter(({ name, isView }) => isView !== true && query.has(name));
  if (chosen.length === 0) return null;
  return (
    <ul class="marks" aria-label="Chosen filters">
      {chosen.map(({ name, label, shown = (value) => value }) => (
        <li key={name}>
          <button type="button" class="mark" onClick={() => change({ [name]: undefined })}>
            <span class="hidden">Remove the filter</span> {label}: <strong>{shown(query.get(name) ?? '')}</strong>
          </button>
        </li>
      ))}
    </ul>
  );
}

export function TextFilter({ name, label, query, hint }: FilterProps & { hint?: string | undefined }) {
  const inAddress = query.get(name) ?? '';
  const [text, setText] = useState(inAddress);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // What is typed stays as it is: the address gets it a moment later, without the space after the first word.
  const written = useRef(inAddress);
  useEffect(() => {
    if (written.current === inAddress) return;
    clearTimeout(timer.current);
    written.current = inAddress;
    setText(inAddress);
  }, [inAddress]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      written.current = value.trim();
      change({ [name]: written.current }, { replace: true });
    }, TYPING_MS);
  };
  return (
    <Field label={label}>
      <input type="search" placeholder={hint} value={text} onInput={(event) => type(event.currentTarget.value)} />
    </Field>
  );
}

interface SelectFilterProps extends FilterProps {
  readonly choices: readonly Choice[];
  /** The label of the choice that removes the filter; null if a value is necessary. */
  readonly all?: string | null;
  readonly defaultValue?: string | undefined;
}

export function SelectFilter({ name, label, query, choices, all = 'All', defaultValue = '' }: SelectFilterProps) {
  const value = query.get(name) ?? defaultValue;
  const isListed = value === '' || choices.some((choice) => [choice].flat()[0] === value);
  const offered = [...(all === null ? [] : [['', all] as const]), ...(isListed ? [] : [value]), ...choices];
  return <Chooser label={label} value={value} choices={offered} onChoose={(chosen) => change({ [name]: chosen })} />;
}

export function HaulerFilter({ query }: PageProps) {
  const { choices } = useHaulers();
  return <SelectFilter name="haulerId" label="Hauler" query={query} choices={choices} all="All haulers" />;
}

function VisionConnectionFilter({ query }: PageProps) {
  const choices = useConnectionChoices('vision') ?? [];
  return <SelectFilter name="connectionId" label="Vision connection" query={query} choices={choices} />;
}

/** A time, in the zone of the browser. */
function TimeFilter({ name, label, query }: FilterProps) {
  const value = query.get(name);
  return (
    <Field label={label}>
      <input
        type="datetime-local"
        value={value === null ? '' : localInput(new Date(value))}
        onChange={({ currentTarget: { value: text } }) =>
          change({ [name]: text === '' ? '' : new Date(text).toISOString() })
        }
      />
    </Field>
  );
}

/** A filter of a list: its name in the address and for the API, and its field. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly field: (query: URLSearchParams) => VNode | null;
  /** A chosen value, as a person reads it. */
  readonly shown?: (value: string) => ComponentChildren;
  /** It changes how the rows are shown, not which. */
  readonly isView?: boolean;
}

/** What the address has of the filters, for a call. */
export const chosenOf = (query: URLSearchParams, filters: readonly Filter[]): Record<string, string> =>
  pick(query, ...filters.filter(({ isView }) => isView !== true).map(({ name }) => name));

/** A filter that links and buttons set. */
export const byLink = (name: string, label = name): Filter => ({ name, label, field: () => null });

export const byText = (name: string, label: string, hint?: string): Filter => ({
  name,
  label,
  field: (query) => <TextFilter name={name} label={label} query={query} hint={hint} />,
});

export const byTime = (name: string, label: string): Filter => ({
  name,
  label,
  field: (query) => <TimeFilter name={name} label={label} query={query} />,
  shown: (value) => <Time value={value} />,
});

export const byChoice = (name: string, label: string, choices: readonly Choice[], all = 'All'): Filter => ({
  name,
  label,
  field: (query) => <SelectFilter name={name} label={label} query={query} choices={choices} all={all} />,
  shown: (value) =>
    choices
      .map((choice) => [choice].flat())
      .find(([each]) => each === value)
      ?.at(-1) ?? value,
});

export const BY_HAULER: Filter = {
  name: 'haulerId',
  label: 'Hauler',
  field: (query) => <HaulerFilter query={query} />,
  shown: (id) => <HaulerName id={id} />,
};

const HaulerName = ({ id }: { id: string }) => <>{useHaulerName()(id)}</>;

export const BY_VISION_CONNECTION: Filter = {
  name: 'connectionId',
  label: 'Vision connection',
  field: (query) => <VisionConnectionFilter query={query} />,
  shown: (id) => <ConnectionName id={id} />,
};

const ConnectionName = ({ id }: { id: string }) => <>{useConnectionName()(id)}</>;

export const BY_ZONE: Filter = {
  name: 'zone',
  label: 'Time zone',
  isView: true,
  field: (query) => <ZoneChoice query={query} />,
};

/** The text of a `datetime-local` input. */
export function localInput(time: Date): string {
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The filters of the address, for a call. */
export function pick(query: URLSearchParams, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])));
}

const [EARLIEST, LATEST] = ['1970-01-01T00:00:00Z', '9999-12-31T00:00:00Z'];

/** The time of the address, or of a picture, as a filter of what shares it; undefined without one. */
export const overlapsOf = (from: string | undefined, to: string | undefined): string | undefined =>
  from === undefined && to === undefined ? undefined : `${from ?? EARLIEST},${to ?? LATEST}`;

/** The zone of the address, or that of the browser. */
export function zoneOf(query: URLSearchParams): string {
  const zone = query.get('zone');
  return zone !== null && isZone(zone) ? zone : browserZone();
}

/** All times of the page are shown in this zone: that of the browser, UTC, or the one of the site. */
export function ZoneChoice({ query }: PageProps) {
  const zone = zoneOf(query);
  const first = [...new Set([browserZone(), 'UTC', zone])];
  const others = Intl.supportedValuesOf('timeZone').filter((each) => !first.includes(each));
  return (
    <label class="field zone">
      <span>Time zone</span>
      <select value={zone} onChange={(event) => change({ zone: event.currentTarget.value }, { replace: true })}>
        <Options choices={first.map((each) => [each, each === browserZone() ? `${each} (this browser)` : each])} />
        <optgroup label="Zone of the site">
          <Options choices={others} />
        </optgroup>
      </select>
    </label>
  );
}
