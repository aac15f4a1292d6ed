import type { Exchange, ExchangeDetail, ExchangeList } from '../../src/contracts/admin/exchanges.routes.js';
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
