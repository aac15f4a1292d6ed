import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The width of an element in pixels, kept current; undefined before the first layout. */
export function useWidth(): readonly [number | undefined, RefObject<HTMLDivElement | null>] {
  const ruler = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState<number>();
  useLayoutEffect(() => {
    const element = ruler.current;
    if (element === null) return undefined;
    const measure = () => setWidth(Math.max(240, element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, ruler];
}

/** A part of a bar. `name` is also its class, which gives colour and pattern. */
interface Part {
  readonly name: string;
  /** Of the height of the chart, from 0 to 1. */
  readonly share: number;
}

interface BarItem {
  readonly key: string;
  /** Read aloud, and shown on hover. */
  readonly label: string;
  readonly href: string | undefined;
  readonly parts: readonly Part[];
  /** Below the bar. */
  readonly tick?: string | undefined;
  readonly kind?: string;
}

interface BarsProps {
  readonly items: readonly BarItem[];
  /** In pixels. */
  readonly height?: number;
  /** What the height of the chart is, so that a bar can be read. */
  readonly scale?: string;
}

const HEIGHT = 110;
/** A part with a single record is visible. */
const MIN_PIXELS = 3;

/** Stacked bars beside each other, the first one at the left. */
export function Bars({ items, height = HEIGHT, scale }: BarsProps) {
  const hasTicks = items.some(({ tick }) => tick !== undefined);
  return (
    <ol class={`bars ${hasTicks ? 'ticked' : ''}`} style={{ height: `${height + 4}px` }} data-scale={scale}>
      {items.map(({ key, label, href, parts, tick, kind = '' }) => {
        const stack = parts.map(({ name, share }) => (
          <span key={name} class={`part ${name}`} style={{ height: `${Math.max(MIN_PIXELS, share * height)}px` }} />
        ));
        return (
          <li key={key}>
            {href === undefined ? (
              <span class={`bar ${kind}`} role="img" aria-label={label} title={label}>
                {stack}
              </span>
            ) : (
              <a class={`bar ${kind}`} href={href} aria-label={label} title={label}>
                {stack}
              </a>
            )}
            {tick !== undefined && (
              <span class="bar-tick" aria-hidden="true">
                {tick}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

interface LegendEntry {
  readonly name: string;
  readonly title: string;
  readonly total: string;
}

export function BarLegend({ entries }: { readonly entries: readonly LegendEntry[] }) {
  return (
    <ul class="legend">
      {entries.map(({ name, title, total }) => (
        <li key={name}>
          <span class={`swatch ${name}`} /> {title} <strong>{total}</strong>
        </li>
      ))}
    </ul>
  );
}
