import { createHash } from 'node:crypto';

/** Records as section 2.4a has them; a test changes what it is about, and may break them. */
export type Plain = Record<string, unknown>;

export interface PlainSiteData {
  sites?: Plain[];
  kiosks?: Plain[];
  materials?: Plain[];
}

/** The same id for the same name, in the order of no name in particular. */
export function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export const STAMP = '2026-01-15T10:00:00Z';

export function site(name: string, change: Plain = {}): Plain {
  return { id: idOf(name), name: `Site ${name}`, updatedAt: STAMP, ...change };
}

export function kiosk(name: string, siteName: string, change: Plain = {}): Plain {
  return { id: idOf(name), siteId: idOf(siteName), name: `Kiosk ${name}`, updatedAt: STAMP, ...change };
}

/** Links are given in `change`. */
export function material(name: string, change: Plain = {}): Plain {
  return { id: idOf(name), materialType: `Type ${name}`, measureUnit: 'Ton', updatedAt: STAMP, ...change };
}

export const ADDRESS = {
  line1: '1 Main St',
  city: 'Austin',
  state: 'Texas',
  country: 'United States',
  zipCode: '78744',
};

/** `count` of each kind's share of a hauler such as issue 3 measures: 1 site : 4 kiosks : 200 materials. */
export function siteData(sites: number, kiosks: number, materials: number): Required<PlainSiteData> {
  const each = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));
  return {
    sites: each(sites, (i) => site(`s${i}`, { address: ADDRESS, active: true })),
    kiosks: each(kiosks, (i) => kiosk(`k${i}`, `s${i % sites}`)),
    materials: each(materials, (i) =>
      material(`m${i}`, kiosks > 0 ? { kioskId: idOf(`k${i % kiosks}`) } : { siteId: idOf(`s${i % sites}`) }),
    ),
  };
}
