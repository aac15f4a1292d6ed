import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { accessibilityFindings, type ConsoleScene, startConsole } from './console-pages.js';

let scene: ConsoleScene;
beforeAll(async () => {
  scene = await startConsole();
}, 90_000);
afterAll(() => scene.close());
afterEach(async () => expect(await scene.endCase()).toEqual([]));

const HOUR_MS = 3_600_000;

interface Fleet {
  readonly haulerId: string;
  readonly connectionId: string;
}

/** A hauler with a partner that is never called. */
async function addHauler(name: string): Promise<Fleet> {
  const { body: hauler } = await scene.service.admin<{ id: string }>('POST', '/haulers', { name });
  const body = {
    haulerId: hauler.id,
    interface: 'vision',
    baseUrl: 'https://partner.invalid',
    apiKey: 'k',
    enabled: false,
  };
  const { body: connection } = await scene.service.admin<{ id: string }>('POST', '/connections', body);
  return { haulerId: hauler.id, connectionId: connection.id };
}

interface Chunk {
  readonly truck: string;
  readonly camera: string;
  readonly at: string;
  readonly seconds: number;
  readonly status: string;
  readonly code?: string;
}

const addRecordings = ({ haulerId, connectionId }: Fleet, chunks: readonly Chunk[]) =>
  scene.service.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, reason_code, fetch_by, created_at, updated_at)
     SELECT $1, gen_random_uuid(), $2, 'continuous', gen_random_uuid(), 'c', truck, camera, at,
       at + seconds * interval '1 second', seconds, status, code, now(), now(), now()
     FROM json_to_recordset($3) AS chunks
       (truck text, camera text, at timestamptz, seconds integer, status text, code text)`,
    [haulerId, connectionId, JSON.stringify(chunks)],
  );

/** Noon of a day before today, in UTC. */
const noon = (daysAgo: number, hours = 0) =>
  new Date(
    Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS - (daysAgo * 24 - 12 - hours) * HOUR_MS,
  ).toISOString();

describe('the fleet', () => {
  it('shows the trucks of all haulers, the worst first, and a camera that is absent', async () => {
    const { page, region, visit } = scene;
    const [north, south] = [await addHauler('North Hauling'), await addHauler('South Hauling')];
    const hour = { camera: 'front', seconds: 3600, status: 'stored' };
    await addRecordings(north, [
      { ...hour, truck: 'T-GOOD', at: noon(2) },
      { ...hour, truck: 'T-BLIND', at: noon(2) },
      { ...hour, truck: 'T-BLIND', camera: '2', at: noon(20) },
    ]);
    await addRecordings(south, [
      { ...hour, truck: 'T-BAD', at: noon(2) },
      { ...hour, truck: 'T-BAD', at: noon(2, 1), status: 'failed', code: 'linkRefused' },
    ]);
    await visit('coverage?zone=UTC');
    const fleet = region('Fleet coverage');
    await fleet.getByText('T-GOOD').waitFor();
    const rows = (await fleet.getByRole('row').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    const place = (pattern: RegExp) => rows.findIndex((text) => pattern.test(text));
    expect(place(/^T-BAD South Hauling/)).toBe(1);
    expect(place(/^T-BLIND North Hauling/)).toBe(2);
    expect(rows[3]).toMatch(/^Camera 2: nothing recorded in this time; its last recording began .+\./);
    expect(place(/^T-GOOD North Hauling/)).toBeGreaterThan(3);
    expect(rows[1]).toContain('50%');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel('Hauler').selectOption({ label: 'North Hauling' });
    await fleet.getByText('T-BAD').waitFor({ state: 'detached' });
  });

  it('has the days of the zone that is shown', async () => {
    const { page, region, visit } = scene;
    const fleet = await addHauler('Island Hauling');
    // 22:00 to 23:00 in UTC is noon of the next day on this island.
    const at = new Date(Date.parse(noon(3)) + 10 * HOUR_MS);
    await addRecordings(fleet, [
      { truck: 'T-ISLE', camera: 'front', at: at.toISOString(), seconds: 3600, status: 'stored' },
    ]);
    const day = (zone: string) => at.toLocaleDateString('en-CA', { timeZone: zone });
    for (const zone of ['UTC', 'Pacific/Kiritimati']) {
      await visit(`coverage?zone=${zone}&haulerId=${fleet.haulerId}`);
      await region('Fleet coverage')
        .getByRole('link', { name: `T-ISLE, ${day(zone)}: 100% stored` })
        .waitFor();
    }
    expect(day('UTC')).not.toBe(day('Pacific/Kiritimati'));
    await page.getByRole('link', { name: /100% stored/ }).click();
    await page.waitForURL(/zone=Pacific%2FKiritimati.*from=.*T10%3A00/);
  });
});

describe('the page of a truck', () => {
  it('begins with a sentence for each camera: what is missing, why and whose part it is', async () => {
    const { page, visit } = scene;
    const fleet = await addHauler('West Hauling');
    const chunk = { truck: 'T1', seconds: 1200, status: 'failed' };
    await addRecordings(fleet, [
      { ...chunk, camera: 'front', at: noon(2), code: 'linkRefused' },
      { ...chunk, camera: 'front', at: noon(2, 1), code: 'invalidFile' },
      { ...chunk, camera: 'front', at: noon(2, 2), status: 'expired', code: 'notListed' },
      { ...chunk, camera: 'rear', at: noon(2), status: 'stored' },
      { ...chunk, camera: 'side', at: noon(9), status: 'stored' },
    ]);
    for (const days of [1, 7]) {
      const range = `from=${noon(2 + days / 2)}&to=${noon(2 - days / 2)}`;
      await visit(`coverage?connectionId=${fleet.connectionId}&truckId=T1&${range}`);
      const cameras = page.getByRole('list', { name: 'Cameras' }).getByRole('listitem');
      await cameras.first().waitFor();
      const texts = await cameras.allInnerTexts();
      expect(texts[0]).toMatch(
        /^Front: 60 min missing; 20 (dead links|broken files|not listed by the partner), 20 .*, 20 .*\..*Whose part: the partner/s,
      );
      expect(texts.find((text) => text.startsWith('Rear'))).toMatch(/^Rear: nothing missing of 20 min recorded\./);
      expect(texts.find((text) => text.startsWith('Side'))).toMatch(
        /^Side: nothing recorded in this time; its last recording began/,
      );
    }
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});
