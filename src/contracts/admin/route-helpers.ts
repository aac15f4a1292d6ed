import type { RouteClasses, RouteDefinition, RouteFacts } from '../common/api-contract.js';
import type { DtoClass } from '../common/fields/field.js';
import type { AdminRole } from '../common/roles.values.js';
import { DryRunQuery } from './fields.js';
import { HistoryEntry } from './history.dto.js';
import { IdParam, listOf, ListQuery } from './list.dto.js';

/** Routes of the admin API. Each says which role may call it. */
export type AdminRoutes = Readonly<Record<string, RouteDefinition & { readonly role: AdminRole }>>;

/** Who may call a route: `FOR_…` also callers that are limited to haulers, for these; `…_OF_ALL` only those who are not. */
type Access = Pick<RouteDefinition, 'isPerHauler'> & { readonly role: NonNullable<RouteDefinition['role']> };

export const FOR_VIEWERS = { role: 'viewer', isPerHauler: true } as const;
export const FOR_OPERATORS = { role: 'operator', isPerHauler: true } as const;
export const FOR_ADMINS = { role: 'admin', isPerHauler: true } as const;
export const FOR_VIEWERS_OF_ALL = { role: 'viewer' } as const;
export const FOR_OPERATORS_OF_ALL = { role: 'operator' } as const;
export const FOR_ADMINS_OF_ALL = { role: 'admin' } as const;
/** Keys of partners, each for its own hauler or connection. */
export const FOR_PARTNERS = { role: 'partner' } as const;

/** What the helpers cannot know of a route: its texts, and what is special about it. */
type Facts = Omit<RouteFacts, 'role' | 'isPerHauler' | 'status'> & Partial<Pick<RouteFacts, 'status'>>;

/** Refuses properties that no route has, which an inferred type would keep. */
type Known<Given> = Given & { readonly [Name in Exclude<keyof Given, keyof RouteDefinition>]: never };

type Text = 'summary' | 'description' | 'returns';

type Shared<M, P> = Pick<RouteFacts, Text | 'status'> & { readonly method: M; readonly path: P };

type Own = RouteClasses & Omit<Facts, Text> & Partial<Pick<Facts, Text>>;

type Method = RouteDefinition['method'];
type Path = RouteDefinition['path'];

type TypedRoute<A, M, P, Given> = RouteFacts & A & Given & { readonly method: M; readonly path: P };

/** A whole route, with the classes that it reads and returns. The helpers below are for what many resources have. */
export function route<A extends Access, M extends Method, P extends Path, Given extends Facts & RouteClasses>(
  access: A,
  method: M,
  path: P,
  given: Known<Given>,
): TypedRoute<A, M, P, Given> {
  return { status: 200, ...given, ...access, method, path };
}

/** A list in pages. With `csv` also as CSV, whose columns are the fields of `row`. */
export const list = <A extends Access, P extends Path, Row extends object, Query extends object>(
  access: A,
  path: P,
  row: DtoClass<Row>,
  query: DtoClass<Query>,
  facts: Facts,
) => route(access, 'GET', path, { returns: PAGE, ...facts, query, response: listOf(row) });

/** A list that belongs to the record in its path. */
export const listOfOne = <A extends Access, P extends Path, Row extends object, Query extends object>(
  access: A,
  path: P,
  noun: string,
  row: DtoClass<Row>,
  query: DtoClass<Query>,
  facts: Facts,
) => route(access, 'GET', path, { returns: PAGE, ...ofOne(noun, facts), query, response: listOf(row) });

/** A record by its id. */
export const one = <A extends Access, P extends Path, Response extends object>(
  access: A,
  path: P,
  noun: string,
  response: DtoClass<Response>,
  facts: Facts,
) => route(access, 'GET', path, { returns: `The ${noun}`, ...ofOne(noun, facts), response });

export const create = <A extends Access, P extends Path, Body extends object, Response extends object>(
  access: A,
  path: P,
  body: DtoClass<Body>,
  response: DtoClass<Response>,
  facts: Facts,
) => route(access, 'POST', path, { status: 201, ...facts, body, response });

/** Changes the record in its path: `PATCH` some fields, `PUT` all of them, `POST` by an action. */
export function change<
  A extends Access,
  M extends 'PATCH' | 'PUT' | 'POST',
  P extends Path,
  Given extends Facts & RouteClasses,
>(
  access: A,
  method: M,
  path: P,
  noun: string,
  given: Known<Given>,
): TypedRoute<A, M, P, Given & { readonly params: typeof IdParam }> {
  return { status: 200, ...ofOne(noun, given), ...access, method, path };
}

/** Deletes the record in its path, and what depends on it: the preview says what. */
export const removeWithPreview = <A extends Access, P extends Path, Preview extends object>(
  access: A,
  path: P,
  noun: string,
  preview: DtoClass<Preview>,
  facts: Facts,
) =>
  route(access, 'DELETE', path, {
    returns: `The ${noun} is deleted`,
    ...ofOne(noun, facts),
    status: 204,
    query: DryRunQuery,
    preview,
  });

/** Deletes the record in its path. */
export const remove = <A extends Access, P extends Path>(access: A, path: P, noun: string, facts: Facts) =>
  route(access, 'DELETE', path, { returns: `The ${noun} is deleted`, ...ofOne(noun, facts), status: 204 });

export const history = <P extends Path>(path: P, noun: string, events: string) =>
  listOfOne(FOR_VIEWERS, path, noun, HistoryEntry, ListQuery, {
    summary: `List the history of ${noun}`,
    description: `${events} Newest first, at most the newest 1,000. Exchanges are kept for some days.`,
    fails: { notFound: 'Nothing has this id' },
  });

/**
 * A route of the admin API that a partner has too: its method, path, status and texts. All else stands in `given`, so that nothing
 * that an admin sees comes unseen.
 */
export function own<M extends Method, P extends Path, Given extends Own>(
  { method, path, status, summary, description, returns }: Shared<M, P>,
  given: Known<Given>,
): TypedRoute<typeof FOR_PARTNERS, M, P, Given> {
  const texts = { summary, description, ...(returns === undefined ? {} : { returns }) };
  return { status, ...texts, ...given, ...FOR_PARTNERS, method, path };
}

/** The same for the record in the path. */
export const ownOne = <M extends Method, P extends Path, Given extends Own>(
  shared: Shared<M, P>,
  notFound: string,
  given: Known<Given>,
) => own(shared, { params: IdParam, ...given, fails: { ...given.fails, notFound } });

const PAGE = 'A page of the list';

const ofOne = <Given extends Facts>(noun: string, given: Given) => ({
  ...given,
  params: IdParam,
  fails: { notFound: `No ${noun} has this id`, ...given.fails },
});
