import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../core/config/version.js';
import { DEMO_HAULER_ID } from '../contracts/common/demo.js';

/** Fixed identifiers, so that the examples of the README work as pasted on every machine. */
export const DEMO = {
  haulerId: DEMO_HAULER_ID,
  haulerName: 'Demo Hauling',
  siteId: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
  materialId: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21',
  truckId: 'TRUCK-7',
} as const;

/** The second truck with cameras. */
export const SECOND_TRUCK = 'TRUCK-12';

/** A second demo hauler, whose last synchronisation is held. */
export const QUARRY = { haulerId: '6a1d2f3e-8b4c-4d9e-a0f1-223344556677', haulerName: 'Demo Quarry' } as const;

const TRANSFER_STATION = DEMO.siteId;
const LANDFILL = '2d6f4b0e-91c4-4f5e-8a67-5b1e0c7d9f32';
const RECYCLING_YARD = '3e7a5c1f-a2d5-4a6f-9b78-6c2f1d8eaf43';
const YARD_SCALE = 'd4e2f608-3b59-4c7d-9eaf-6dbdbe3d5f65';
const INBOUND_SCALE = '1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21';
const OUTBOUND_SCALE = '8e2b5c31-0f77-4d90-ab2c-4b9b9c1b3e43';
const LANDFILL_SCALE = 'c3d1e5f7-2a48-4b6c-8d9e-5cacad2c4f54';
const UPDATED = '2026-01-15T10:00:00Z';

const demoSite = (id: string, name: string, line1: string, city: string, zipCode: string) => ({
  id,
  name,
  address: { line1, city, state: 'Texas', country: 'United States', zipCode },
  active: true,
  updatedAt: UPDATED,
});
const demoKiosk = (id: string, siteId: string, name: string) => ({
  id,
  siteId,
  name,
  active: true,
  updatedAt: UPDATED,
});
const demoMaterial = (
  id: string,
  parent: { readonly siteId?: string; readonly kioskId?: string },
  materialType: string,
  measureUnit = 'Ton',
) => ({ id, ...parent, materialType, measureUnit, updatedAt: UPDATED });

/** The site data of the demo partner (section 2.4a). */
export const DEMO_SITE_DATA = {
  sites: [
    demoSite(TRANSFER_STATION, 'Onion Creek Transfer Station', '4400 Creekside Road', 'Austin', '78744'),
    demoSite(LANDFILL, 'Red Mesa Landfill', '1 Mesa Haul Road', 'Lockhart', '78644'),
    demoSite(RECYCLING_YARD, 'Walnut Bend Recycling', '910 Walnut Bend', 'Pflugerville', '78660'),
  ],
  kiosks: [
    demoKiosk(INBOUND_SCALE, TRANSFER_STATION, 'Inbound scale'),
    demoKiosk(OUTBOUND_SCALE, TRANSFER_STATION, 'Outbound scale'),
    demoKiosk(LANDFILL_SCALE, LANDFILL, 'Main scale'),
    demoKiosk(YARD_SCALE, RECYCLING_YARD, 'Yard scale'),
  ],
  materials: [
    demoMaterial(DEMO.materialId, { siteId: TRANSFER_STATION, kioskId: INBOUND_SCALE }, 'Mixed construction debris'),
    demoMaterial('a6f1c2d3-58b9-4e0f-b1c2-6dbdbe3d5065', { kioskId: INBOUND_SCALE }, 'Clean concrete'),
    demoMaterial(
      'b7a2d3e4-69ca-4f10-82d3-7ececf4e6176',
      { kioskId: OUTBOUND_SCALE },
      'Recycled aggregate',
      'Cubic Yard',
    ),
    demoMaterial('c8b3e4f5-7adb-4021-93e4-8fdfd05f7287', { siteId: LANDFILL }, 'Municipal solid waste'),
    demoMaterial('d9c4f506-8bec-4132-a4f5-90e0e1608398', { kioskId: LANDFILL_SCALE }, 'Tyres', 'Item'),
    demoMaterial('ea051617-9cfd-4243-85b6-a1f1f2719543', { kioskId: YARD_SCALE }, 'Green waste'),
    demoMaterial('fb162728-ad0e-4354-96c7-b202038a2654', { kioskId: YARD_SCALE }, 'Scrap metal'),
    demoMaterial('0c273839-be1f-4465-87d8-c313149b3765', { kioskId: YARD_SCALE }, 'Asphalt'),
  ],
};

/** The site data of the second hauler: with all materials, and as its partner sends it after most of them are gone. */
export function quarryData(materialCount: number) {
  const site = (n: number, name: string) => ({ id: quarryId(n), name, active: true, updatedAt: UPDATED });
  const names = ['Crushed limestone', 'Road base', 'Flex base', 'Rip rap', 'Pea gravel', 'River rock'];
  const types = [...names, 'Masonry sand', 'Concrete sand', 'Topsoil', 'Select fill', 'Boulders', 'Screenings'];
  return {
    sites: [site(1, 'Limestone Ridge Quarry'), site(2, 'Sand Hill Pit')],
    kiosks: [1, 2].map((n) => ({ ...site(n + 10, `Scale ${n}`), siteId: quarryId(n) })),
    materials: types.slice(0, materialCount).map((materialType, i) => ({
      id: quarryId(i + 21),
      kioskId: quarryId(11 + (i % 2)),
      materialType,
      measureUnit: 'Ton',
      updatedAt: UPDATED,
    })),
  };
}

const quarryId = (n: number): string => `7c9e1a00-0000-4000-8000-0000000000${String(n).padStart(2, '0')}`;

/** The cameras of the demo truck, with the numbers that some systems use for them (decision 45). */
export const DEMO_ALIASES = { front: ['1'], rear: ['2'] } as const;

export const DEMO_CAMERAS = ['front', 'rear'] as const;

export type DemoCamera = (typeof DEMO_CAMERAS)[number];

/**
 * Path of the recording of a camera of the first truck for the minute that begins at `start`. Each camera has ten: the clock in
 * the picture shows the last digit of the minute, and the seconds. Their README says how they were made.
 */
export const demoRecording = (camera: DemoCamera, start: Date): string =>
  recordingPath(`${camera}-${start.getUTCMinutes() % 10}`);

/** The same for an hour of a truck, as a time lapse: a picture of each minute, with the hour and the minute. */
export const demoHour = (truckId: string, camera: DemoCamera, hour: number): string =>
  recordingPath(`${truckId}-${camera}-${hour}`);

const recordingPath = (name: string): string => join(PACKAGE_FOLDER, `dist/src/demo/recordings/${name}.mp4`);

/** Acts on the demo as a person would: the action log names it. */
export const DEMO_PERSON = 'dana.reyes';
