/** What the benchmarks use of it; the package brings no types. */
declare module 'autocannon' {
  export interface Sent {
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: string;
  }
  export interface Request<Context> {
    setupRequest(request: Sent, context: Context): Sent;
    onResponse(status: number, body: string, context: Context): void;
  }
  export interface Client {
    on(event: 'response', listener: (status: number, bytes: number, milliseconds: number) => void): void;
  }
  export interface Options<Context> {
    url: string;
    connections: number;
    duration: number;
    timeout: number;
    method: string;
    headers: Record<string, string>;
    requests: Request<Context>[];
    setupClient(client: Client): void;
  }
  export interface Result {
    readonly duration: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly resets: number;
  }
  export default function autocannon<Context>(options: Options<Context>): Promise<Result>;
}
