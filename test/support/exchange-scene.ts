import type { Exchange, ExchangeDetail, ExchangeList } from '../../src/contracts/admin/exchange.dto.js';
import { ExchangeLog } from '../../src/exchanges/exchange-log.service.js';
import type { TestApp } from './app.js';
import type { Reply } from './http.js';

/** The exchanges of a filter, after all exchanges so far were written. */
export async function listExchanges(
  service: TestApp,
  filter: Readonly<Record<string, string>> = {},
): Promise<Reply<ExchangeList>> {
  await service.app.get(ExchangeLog).flush();
  return service.admin('GET', `/exchanges?${new URLSearchParams(filter).toString()}`);
}

export async function newestExchange(service: TestApp, filter: Readonly<Record<string, string>>): Promise<Exchange> {
  const { body, text } = await listExchanges(service, { ...filter, pageSize: '1' });
  const [newest] = body.data;
  if (newest === undefined) throw new Error(`no exchange of ${JSON.stringify(filter)}: ${text}`);
  return newest;
}

export async function exchangeInFull(
  service: TestApp,
  filter: Readonly<Record<string, string>>,
): Promise<ExchangeDetail> {
  const { id } = await newestExchange(service, filter);
  const { body } = await service.admin<ExchangeDetail>('GET', `/exchanges/${id}`);
  return body;
}

/** Every stored value of the whole database as text, and what base64 in it contains. */
export async function storedText(service: TestApp): Promise<string> {
  await service.app.get(ExchangeLog).flush();
  const tables = await service.dataSource.query<{ name: string }[]>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await service.dataSource.query<{ row: string }[]>(`SELECT t::text AS row FROM ${name} AS t`);
    texts.push(...rows.map(({ row }) => row));
  }
  const base64 = texts.flatMap((text) => text.match(/[A-Za-z0-9+/]{40,}={0,2}/g) ?? []);
  const hex = texts.flatMap((text) => text.match(/\\x[0-9a-f]{20,}/g) ?? []);
  return [
    ...texts,
    ...base64.map((text) => Buffer.from(text, 'base64').toString('latin1')),
    ...hex.map((text) => Buffer.from(text.slice(2), 'hex').toString('latin1')),
  ].join('\n');
}
