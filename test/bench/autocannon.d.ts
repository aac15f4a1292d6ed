/** The part of the package that the benchmarks use; the package has no types. */
declare module 'autocannon' {
  /** One connection. */
  export interface Client {
    on(event: 'response', listener: (status: number) => void): void;
    /** Called for every request; what it gives goes out as it is. */
    getRequestBuffer(): Buffer;
  }
  export interface Options {
    url: string;
    connections: number;
    duration: number;
    timeout: number;
    setupClient(client: Client): void;
  }
  export interface Result {
    readonly errors: number;
    readonly timeouts: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}
