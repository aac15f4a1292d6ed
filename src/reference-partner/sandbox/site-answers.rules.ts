import type { ScenarioName } from '../../contracts/sandbox/scenarios.js';
import type { GetSitesResponse } from '../../contracts/site/site.api.js';

type Data = Required<GetSitesResponse['data']>;

const UNKNOWN_SITE = '5a4d0b0c-0000-4000-8000-00000000dead';
const LONG_AGO = '2000-01-01T00:00:00Z';

const SITE_SCENARIOS: ReadonlySet<string> = new Set<ScenarioName>([
  'site-list-shrinks',
  'material-without-parent',
  'stale-records',
]);

/** Whether a scenario changes the data of a site response. */
export const changesSites = (name: ScenarioName | undefined): name is ScenarioName =>
  name !== undefined && SITE_SCENARIOS.has(name);

/** Returns the response with the changes of a scenario. */
export function changeSites(name: ScenarioName, { success, data: given }: GetSitesResponse): GetSitesResponse {
  const data: Data = { sites: given.sites ?? [], kiosks: given.kiosks ?? [], materials: given.materials ?? [] };
  if (name === 'site-list-shrinks') return { success, data: shrunk(data) };
  if (name === 'material-without-parent') return { success, data: { ...data, materials: orphaned(data.materials) } };
  return { success, data: outdated(data) };
}

function shrunk({ sites, kiosks, materials }: Data): Data {
  const leftSites = sites.slice(0, Math.ceil(sites.length / 2));
  const siteIds = new Set(leftSites.map(({ id }) => id));
  const leftKiosks = kiosks.filter(({ siteId }) => siteIds.has(siteId));
  const kioskIds = new Set(leftKiosks.map(({ id }) => id));
  const isLeft = ({ siteId, kioskId }: Data['materials'][number]) =>
    (siteId === undefined || siteIds.has(siteId)) && (kioskId === undefined || kioskIds.has(kioskId));
  return { sites: leftSites, kiosks: leftKiosks, materials: materials.filter(isLeft) };
}

function orphaned([first, ...others]: Data['materials']): Data['materials'] {
  if (first === undefined) return [];
  const material = { ...first, siteId: UNKNOWN_SITE };
  delete material.kioskId;
  return [material, ...others];
}

function outdated({ sites, kiosks, materials }: Data): Data {
  const rename = (name: string) => `${name} (stale)`.slice(-100);
  return {
    sites: sites.map((each) => ({ ...each, name: rename(each.name), updatedAt: LONG_AGO })),
    kiosks: kiosks.map((each) => ({ ...each, name: rename(each.name), updatedAt: LONG_AGO })),
    materials: materials.map((each) => ({ ...each, materialType: rename(each.materialType), updatedAt: LONG_AGO })),
  };
}
