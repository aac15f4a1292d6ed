import type { Exchange, ExchangeDetail, ExchangeList } from '../../src/contracts/admin/exchange.dto.js';
import { ExchangeLog } from '../../src/exchanges/exchange-log.service.js';
import type { Reply, TestApp } from './app.js';

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

/** All stored text of the exchanges, as one. */
export async function storedText(service: TestApp): Promise<string> {
  await service.app.get(ExchangeLog).flush();
  const rows = await service.dataSource.query<{ row: string }[]>(
    `SELECT e::text AS row FROM exchanges e UNION ALL SELECT r::text FROM exchange_references r`,
  );
  const texts = rows.map(({ row }) => row);
  const base64 = texts.flatMap((text) => text.match(/[A-Za-z0-9+/]{40,}={0,2}/g) ?? []);
  return [...texts, ...base64.map((text) => Buffer.from(text, 'base64').toString('latin1'))].join('\n');
}
