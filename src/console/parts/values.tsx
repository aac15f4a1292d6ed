import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { wholeTime } from './zone.rules.js';

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const DAY = { month: 'short', day: 'numeric' } as const;
const OF_TODAY = new Intl.DateTimeFormat(undefined, CLOCK);
const OF_THIS_YEAR = new Intl.DateTimeFormat(undefined, { ...DAY, ...CLOCK });
const WHOLE = new Intl.DateTimeFormat(undefined, { year: 'numeric', ...DAY, ...CLOCK });
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });

/** Without the day, or the year, of `reference`. */
function shortTime(time: Date, reference: Date): string {
  if (time.toDateString() === reference.toDateString()) return OF_TODAY.format(time);
  return (time.getFullYear() === reference.getFullYear() ? OF_THIS_YEAR : WHOLE).format(time);
}

interface TimeProps {
  readonly value: string | null | undefined;
  /** It stands behind this time, whose day it does not repeat; today by default. */
  readonly after?: string;
}

/** A time in the zone of the browser, with what differs from now; the whole time on hover and where it is copied. */
export function Time({ value, after }: TimeProps) {
  if (value === null || value === undefined) return <span class="muted">–</span>;
  const time = new Date(value);
  return (
    <time dateTime={value} title={wholeTime(value)}>
      {shortTime(time, after === undefined ? new Date() : new Date(after))}
    </time>
  );
}

/** When something was done, and by whom. */
export const Done = ({ at, by }: { at: string | undefined; by: string | undefined }) => (
  <>
    <Time value={at} /> <span class="hint">by {by}</span>
  </>
);

/** Larger numbers have no groups of digits: a double may have 309 digits. */
const MAX_GROUPED = 1e15;

export const formatCount = (value: number): string =>
  Math.abs(value) < MAX_GROUPED ? NUMBER.format(value) : String(value);

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${NUMBER.format(power === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1)))} ${UNITS[power]}`;
}

export function formatSeconds(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), seconds % 60];
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Values by name, in a grid. A value that is false is left out. */
export function Facts({ of, kind = '' }: { of: Readonly<Record<string, ComponentChildren>>; kind?: string }) {
  const facts = Object.entries(of).filter(([, value]) => value !== false);
  return (
    <dl class={`facts ${kind}`}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === undefined || value === null || value === '' ? <span class="muted">–</span> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Text of the service whose words in backticks are code. */
export const Prose = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
);

/** The first characters of a key, by which people recognise it. */
export const KeyPrefix = ({ value }: { value: string }) => <code class="prefix">{value}…</code>;

/** An id that can be copied. */
export function Id({ value }: { value: string }) {
  return (
    <span class="id">
      <code>{value}</code> <CopyButton text={value} label="Copy" />
    </span>
  );
}

function CopyButton({ text, label }: { text: string; label: string }) {
  const [result, setResult] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setResult('Copied');
    } catch {
      // Browsers allow this on https and localhost only.
      setResult('Select the text and copy it by hand');
    }
    setTimeout(() => setResult(''), 2_500);
  };
  return (
    <>
      <button type="button" class="small" onClick={() => void copy().catch(reportError)}>
        {label}
      </button>
      <span class="copied" role="status">
        {result}
      </span>
    </>
  );
}

interface SecretProps {
  /** What it is: `key`. */
  readonly of: string;
  readonly value: string;
  readonly onClose: () => void;
}

/** The only place that shows a secret. */
export const Secret = ({ of, value, onClose }: SecretProps) => (
  <>
    <p>
      <strong>Copy the {of} now: it is never shown again.</strong>
    </p>
    <p class="secret">
      <code>{value}</code> <CopyButton text={value} label={`Copy the ${of}`} />
    </p>
    <button type="button" onClick={onClose}>
      I have stored the {of}
    </button>
  </>
);
