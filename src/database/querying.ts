/** Whatever runs a statement: a data source, an entity manager in its transaction, one connection. */
export interface Querying {
  query<T>(sql: string, parameters: unknown[]): Promise<T>;
}
