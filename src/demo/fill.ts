import type { ResolvedEnv } from '../core/config/env.js';
import { TOPIC_NAMES, type TopicName } from '../contracts/webhooks/topics.values.js';
import type { ExchangeList } from '../contracts/admin/exchanges.routes.js';
import { DemoPartner, eventually, messageOf, timeOf } from './calls.js';
import { DEMO, DEMO_PERSON, DEMO_SITE_DATA, QUARRY, quarryData } from './demo-data.js';
import { storedSecrets, storeSecrets } from './demo-keys.js';
import { askForLateHour, disputedTime, filmFirstTruck, filmSecondTruck } from './footage.js';
import {
  ACCOUNT_NAMES,
  accountOf,
  arrivalStory,
  correctedStory,
  dayName,
  demoDays,
  filmedDay,
  hourOf,
  OPENS_AT,
  type Refusal,
  refusalsOf,
  STORY,
  TAKEN_NAMES,
  ticketsOf,
  type TicketStory,
  unknownMaterial,
} from './pushes.rules.js';
import { RECEIVER_PATH } from './received-webhooks.js';
import { connect, type Demo, demoClient, type DemoScene, recordMinutes, replaceSiteData, subscribe } from './seed.js';

/** Tickets that are pushed at once. The pushes of one ticket follow each other. */
const AT_ONCE = 8;
const MAX_PAGE = '100';
const QUARRY_MATERIALS = 12;
const LEFT_MATERIALS = 5;
const CASE_ID = 'DEMO-CLAIM-117';

/** Changes of a state: the tickets of two weeks would be hundreds of messages at once. */
const FIRST_TOPICS = TOPIC_NAMES.filter((topic: TopicName) => !/^(ticket|account)\./.test(topic));

/**
 * Fills the demo through the interfaces of this service, with what is missing: all at the first start, and what time has added at
 * a later one. A part that fails is named in the result, and the others go on. An instance that
 * serves one side has recordings at most.
 */
export async function fillDemo(env: ResolvedEnv, baseUrl: string, demo: Demo, signal: AbortSignal): Promise<string[]> {
  const { connections, lastMinute } = demo;
  const admin = demoClient(baseUrl, env.ADMIN_TOKEN);
  if (connections === undefined) {
    if (env.SIDES.has('partner')) await recordMinutes(admin, lastMinute);
    return [];
  }
  const partner = new DemoPartner(baseUrl, demo.keys.platform, signal);
  const now = Date.now();
  const scene: DemoScene = { ...demo, connections, admin, partner, baseUrl, env, now, signal };
  const missing: string[] = [];
  /** False if the part, or the service, has failed: what follows from it is left to a later start. */
  const part = async (name: string, make: (scene: DemoScene) => Promise<unknown>): Promise<boolean> => {
    if (signal.aborted) return false;
    try {
      await make(scene);
      return true;
    } catch (error) {
      missing.push(`${name} (${messageOf(error)})`);
      return false;
    }
  };
  try {
    await part('webhook endpoint', receiveWebhooks);
    const [hasFootage] = await Promise.all([
      part('footage', async () => {
        await recordMinutes(admin, lastMinute);
        await subscribe(admin, connections.vision, demo.clip, timeOf(hourOf(filmedDay(now), OPENS_AT)));
        await filmSecondTruck(scene);
        await filmFirstTruck(scene);
      }),
      Promise.all([
        part('tickets', pushTickets),
        part('accounts', createAccounts),
        part('held synchronisation', holdQuarry),
      ]).then(async () => {
        await part('webhook topics', askForAllTopics);
        await part('quarantined record', quarantine);
        await part('refused pushes', pushRefusals);
      }),
    ]);
    if (hasFootage) await part('ticket with footage', pushArrival);
    if (hasFootage) await part('actions of a person', actAsPerson);
    return missing;
  } finally {
    partner.close();
  }
}

const ownEndpoint = async ({ admin }: DemoScene) =>
  (await admin.call('listWebhookEndpoints', { query: { pageSize: MAX_PAGE } })).data.find(({ url }) =>
    url.endsWith(RECEIVER_PATH),
  );

/** The endpoint moves with the port. Its secret is rotated if this data folder does not have it. */
async function receiveWebhooks(scene: DemoScene): Promise<void> {
  const { admin, baseUrl, env } = scene;
  const url = baseUrl + RECEIVER_PATH;
  const endpoint = await ownEndpoint(scene);
  if (endpoint === undefined) {
    const { secret } = await admin.call('createWebhookEndpoint', { body: { url, topics: FIRST_TOPICS } });
    await storeSecrets(env.DATA_DIR, { webhook: secret });
    return;
  }
  const params = { id: endpoint.id };
  if (endpoint.url !== url) await admin.call('updateWebhookEndpoint', { params, body: { url } });
  if (storedSecrets(env.DATA_DIR).webhook !== undefined) return;
  const { secret } = await admin.call('rotateWebhookSecret', { params, body: { overlapSeconds: 0 } });
  await storeSecrets(env.DATA_DIR, { webhook: secret });
}

async function askForAllTopics(scene: DemoScene): Promise<void> {
  const endpoint = await ownEndpoint(scene);
  if (endpoint === undefined || endpoint.topics.length === TOPIC_NAMES.length) return;
  await scene.admin.call('updateWebhookEndpoint', { params: { id: endpoint.id }, body: { topics: TOPIC_NAMES } });
}

/** Each day whose tickets are not all there. */
async function pushTickets(scene: DemoScene): Promise<void> {
  await requireMaterials(scene);
  const known = await knownNumbers(scene, 'OC-7000');
  const stories = [correctedStory(scene.now)].filter(({ number }) => !known.has(number));
  for (const day of demoDays(scene.now)) {
    const pushed = await knownNumbers(scene, `-${dayName(day)}-`);
    stories.push(...ticketsOf(day, scene.now).filter(({ number }) => !pushed.has(number)));
  }
  await severalAtOnce(stories, (story) => push(scene, story));
}

async function severalAtOnce<T>(all: readonly T[], work: (each: T) => Promise<unknown>): Promise<void> {
  const waiting = all.values();
  const lane = async () => {
    for (const each of waiting) await work(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function push({ partner }: DemoScene, { number, pushes }: TicketStory): Promise<void> {
  for (const body of pushes) {
    const status = await partner.post('/tickets', body);
    if (status !== 200) throw new Error(`ticket ${number} was answered ${status}`);
  }
}

/** After an upgrade the first synchronisation is older than some of the sites. */
async function requireMaterials({ admin, connections, signal }: DemoScene): Promise<void> {
  const query = { haulerId: DEMO.haulerId, pageSize: MAX_PAGE };
  const areThere = async () =>
    (await admin.call('listMaterials', { query })).data.length >= DEMO_SITE_DATA.materials.length;
  if (await areThere()) return;
  await admin.call('syncConnection', { params: { id: connections.site } });
  if (!(await eventually(signal, areThere))) throw new Error('the sites have not been synchronised');
}

async function knownNumbers({ admin }: DemoScene, search: string): Promise<Set<string>> {
  const query = { haulerId: DEMO.haulerId, search, pageSize: MAX_PAGE };
  const { data } = await admin.call('listTickets', { query });
  return new Set(data.flatMap(({ inboundFlow }) => inboundFlow?.ticketNumber ?? []));
}

async function createAccounts({ admin, partner }: DemoScene): Promise<void> {
  const query = { haulerId: DEMO.haulerId, pageSize: MAX_PAGE };
  const known = new Set((await admin.call('listAccounts', { query })).data.map(({ accountName }) => accountName));
  const missing = ACCOUNT_NAMES.flatMap((name, i) => (known.has(name) ? [] : [i]));
  await severalAtOnce(missing, (i) => partner.post('/accounts', accountOf(i)));
  for (const [i, accountName] of TAKEN_NAMES) {
    if (missing.includes(i)) await partner.post('/accounts', { ...accountOf(i), accountName });
  }
}

/** The partner of the second hauler no longer lists most of its materials. Once: also if an earlier start did not come so far. */
async function holdQuarry({ admin, baseUrl, keys, signal }: DemoScene): Promise<void> {
  const { haulerId } = QUARRY;
  const isNew = (await admin.call('listConnections', { query: { haulerId } })).data.length === 0;
  if (isNew) await replaceSiteData(admin, haulerId, quarryData(QUARRY_MATERIALS));
  const connectionId = await connect(admin, 'site', {
    haulerId,
    baseUrl,
    apiKey: keys.quarry,
    // Each further run would be held as well.
    intervalSeconds: 86_400,
  });
  const runs = async () => (await admin.call('listSyncRuns', { query: { connectionId, pageSize: MAX_PAGE } })).data;
  const isHeld = async () => (await runs()).some(({ counts }) => counts.materials.held > 0);
  if (await isHeld()) return;
  const hasSucceeded = async () => (await runs()).some(({ status }) => status === 'succeeded');
  if (!(await eventually(signal, hasSucceeded))) throw new Error('the first synchronisation has not succeeded');
  await replaceSiteData(admin, haulerId, quarryData(LEFT_MATERIALS));
  await admin.call('syncConnection', { params: { id: connectionId } });
  if (!(await eventually(signal, isHeld))) throw new Error('the synchronisation is not held');
}

/** One synchronisation in which a material names a site that does not exist. */
async function quarantine({ admin, connections, signal }: DemoScene): Promise<void> {
  const query = { connectionId: connections.site, quarantined: 'true' };
  const isThere = async () => (await admin.call('listSyncRuns', { query })).data.length > 0;
  if (await isThere()) return;
  const params = { subject: 'haulers', subjectId: DEMO.haulerId, name: 'material-without-parent' };
  await admin.call('startScenario', { params, body: { times: 1, forSeconds: 60 } });
  await admin.call('syncConnection', { params: { id: connections.site } });
  if (!(await eventually(signal, isThere))) throw new Error('no record is in quarantine');
}

async function pushRefusals(scene: DemoScene): Promise<void> {
  const known = await refusedNumbers(scene);
  const named: Refusal = unknownMaterial(STORY.refused, scene.now - 60_000);
  const refusals = [...demoDays(scene.now).flatMap((day) => refusalsOf(day, scene.now)), named];
  const missing = refusals.filter(({ number }) => !known.has(number));
  await severalAtOnce(missing, ({ body }) => scene.partner.post('/tickets', body));
}

/** Also those that the exchange log has not stored yet are known at the next start. */
async function refusedNumbers({ admin }: DemoScene): Promise<Set<string>> {
  const query = { haulerId: DEMO.haulerId, interface: 'scale', failed: 'true', pageSize: MAX_PAGE };
  const numbers = new Set<string>();
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null && pages < 10; pages++) {
    const list: ExchangeList = await admin.call('listExchanges', {
      query: cursor === '' ? query : { ...query, cursor },
    });
    for (const { kind, value } of list.data.flatMap(({ references }) => references)) {
      if (kind === 'ticketNumber') numbers.add(value);
    }
    cursor = list.next;
  }
  return numbers;
}

/** Within the minutes that were recorded last, whose clock runs as it did. */
async function pushArrival(scene: DemoScene): Promise<void> {
  const { admin, clip, signal } = scene;
  const connectionId = scene.connections.vision;
  const body = { truckField: 'truckNumber', connectionId, cameras: ['front', 'rear'] };
  const params = { id: DEMO.haulerId };
  const isSet = await admin.call('getTicketFootageSetting', { params }).then(
    (setting) => setting.connectionId === connectionId,
    () => false,
  );
  if (!isSet) await admin.call('setTicketFootage', { params, body });
  if ((await knownNumbers(scene, STORY.arrival)).size > 0) return;
  const at = Date.parse(clip.startTime) + 15_000;
  await push(scene, arrivalStory(at));
  if (scene.env.OUTBOUND === 'off') return;
  const query = { connectionId, truckId: DEMO.truckId, status: 'stored', from: timeOf(at - 120_000) };
  await eventually(signal, async () => (await admin.call('listRecordings', { query })).data.length >= 4);
}

/** A dispute: somebody holds the footage, asks for what is missing, and looks at a refused push. */
async function actAsPerson(scene: DemoScene): Promise<void> {
  const { env, baseUrl, now } = scene;
  const connectionId = scene.connections.vision;
  const token = env.ADMIN_TOKENS?.find(({ name }) => name === DEMO_PERSON)?.token;
  if (token === undefined) return;
  const person = demoClient(baseUrl, token);
  if ((await person.call('listHolds', { query: { caseId: CASE_ID } })).data.length > 0) return;
  const { truckId } = DEMO;
  const time = disputedTime(now);
  const reason = 'The customer says that the truck never came';
  await person.call('createHold', { body: { caseId: CASE_ID, reason, connectionId, truckId, ...time } });
  const range = { startTime: timeAfter(time.from, 70), endTime: timeAfter(time.from, 80) };
  await person.call('createVideoRequest', { body: { connectionId, truckId, cameraId: 'rear', ...range } });
  await askForLateHour(scene, person);
  const query = { reference: `ticketNumber:${STORY.refused}` };
  const [refused] = (await person.call('listExchanges', { query })).data;
  if (refused !== undefined) await person.call('getExchange', { params: { id: refused.id } });
  const endpoint = await ownEndpoint(scene);
  if (endpoint !== undefined) await person.call('testWebhookEndpoint', { params: { id: endpoint.id } });
}

const timeAfter = (time: string, minutes: number): string => timeOf(Date.parse(time) + minutes * 60_000);
