import {} from '../common/fields/decorators.js';
import type { RouteDefinition } from '../common/api-contract.js';
import type { DtoClass } from '../common/fields/field.js';
import type { AdminRole } from '../common/roles.values.js';
import { HistoryEntry } from './history.dto.js';
import { IdParam, listOf, ListQuery } from './list.dto.js';

/** Routes of the admin API. Each says which role may call it. */
export type AdminRoutes = Readonly<Record<string, RouteDefinition & { readonly role: AdminRole }>>;

/** The common part of a list. */
export const page = <T extends object>(element: DtoClass<T>, elements: string) =>
  ({
    method: 'GET',
    status: 200,
    response: listOf(element),
    returns: `A page of ${elements}`,
  }) as const;

/** A list that is also sent as CSV. */
export const table = <T extends object>(element: DtoClass<T>, elements: string, each?: keyof T & string) =>
  ({
    ...page(element, elements),
    csv: { elements: [element], ...(each === undefined ? {} : { each }) },
  }) as const;

/** The common part of a route whose path has the id of a record. */
export const ofOne = (noun: string) => ({ params: IdParam, fails: { notFound: `No ${noun} has this id` } }) as const;

/** The common part of a route that creates a record. */
export const create = <T extends object>(response: DtoClass<T>, noun: string) =>
  ({ method: 'POST', status: 201, response, returns: `The ${noun}` }) as const;

/** The common part of a look-up by id, and of a change whose response is the record. */
export const read = <T extends object>(response: DtoClass<T>, noun: string) =>
  ({
    ...ofOne(noun),
    method: 'GET',
    status: 200,
    response,
    returns: `The ${noun}`,
  }) as const;

/** The history of a record. */
export const history = (path: `/${string}`, noun: string, events: string) =>
  ({
    ...page(HistoryEntry, 'events'),
    path: `${path}/{id}/history`,
    role: 'viewer',
    isPerHauler: true,
    summary: `List the history of ${noun}`,
    description: `${events} Newest first, at most the newest 1,000. Exchanges are kept for some days.`,
    params: IdParam,
    query: ListQuery,
    fails: { notFound: 'Nothing has this id' },
  }) as const;
