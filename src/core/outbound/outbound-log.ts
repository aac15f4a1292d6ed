import { AsyncLocalStorage } from 'node:async_hooks';
import type { InterfaceName } from '../../contracts/common/interfaces.values.js';
import type { Reference } from '../../contracts/common/references.js';
import { currentTrace, inTrace, newTrace } from './trace-context.js';

/** An outbound call before it is sent. */
export interface OutboundCall {
  readonly interface: InterfaceName;
  readonly route: string | null;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly haulerId?: string | undefined;
  readonly connectionId?: string | undefined;
  /** Texts that must not be stored wherever they occur, such as the keys of the connection. */
  readonly secrets?: readonly string[];
  /** A download: the bytes of its response are counted and not kept. */
  readonly isFile?: boolean;
}

/** One outbound call while it runs. */
export interface OpenCall {
  responded(status: number, headers: Readonly<Record<string, unknown>>): void;
  /** A part of the body, without its content coding. */
  received(chunk: Buffer): void;
  /** A part of the body with its content coding, if it has one. */
  receivedEncoded(chunk: Buffer): void;
  /** Bytes of a file, which is not kept. */
  counted(bytes: number): void;
  /** The end. Only the first call counts. `failure` is the reason for which there is no usable response. */
  ended(failure?: string): void;
}

/** Records outbound calls. */
export interface OutboundLog {
  begin(call: OutboundCall): OpenCall;
}

/** The name of a failure in the log: `addressRefused` is `address-refused`. */
export const failureName = (kind: string): string => kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Injection token of `OutboundLog`. */
export const OUTBOUND_LOG = Symbol('OUTBOUND_LOG');

const ignore = () => undefined;

/** Records nothing. */
export const NO_OUTBOUND_LOG: OutboundLog = {
  begin: () => ({ responded: ignore, received: ignore, receivedEncoded: ignore, counted: ignore, ended: ignore }),
};

/** Work that causes outbound calls. */
export interface CallContext {
  readonly references: readonly Reference[];
  readonly haulerId?: string;
  readonly connectionId?: string;
  /** The exchange that the calls repeat. */
  readonly replayOf?: string;
  /** Called at the end of each call. `status` is 0 without a response. */
  readonly onEnd?: (call: {
    readonly id: string;
    readonly status: number;
    readonly failure?: string | undefined;
  }) => void;
}

const contexts = new AsyncLocalStorage<CallContext>();

/** Runs `work`. The outbound calls in it are recorded with this context, and belong to one trace. */
export const inCallContext = <T>(context: CallContext, work: () => Promise<T>): Promise<T> =>
  inTrace(currentTrace() ?? newTrace(), () => contexts.run(context, work));

export const callContext = (): CallContext | undefined => contexts.getStore();
