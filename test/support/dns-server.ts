import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

const [HEADER_BYTES, TYPE_A, TYPE_AAAA, CLASS_IN] = [12, 1, 28, 1];
/** A response, authoritative, recursion desired and available, no error (RFC 1035, 4.1.1). */
const FLAGS = 0x8580;
const NAME_ERROR = 3;
/** The name of the question, by reference. */
const SAME_NAME = 0xc00c;

export interface DnsServer {
  /** Questions for IPv4 addresses so far, oldest first. */
  readonly asked: string[];
  /** Sets the answers for a name: one list of addresses for each question; the last list answers all later ones. */
  answer(name: string, ...addresses: readonly (readonly string[])[]): void;
  /** Questions for this name are never answered. */
  hang(name: string): void;
  readonly port: number;
  close(): Promise<void>;
}

/** A name server over UDP (RFC 1035): the answers live for no time at all, as a rebinding one has them. */
export async function startDnsServer(port: number, host = '127.0.0.1'): Promise<DnsServer> {
  const zone = new Map<string, (readonly string[])[]>();
  const asked: string[] = [];
  const hanging = new Set<string>();
  const socket = createSocket('udp4');
  const addressesOf = (name: string, type: number): readonly string[] | undefined => {
    const lists = zone.get(name);
    if (lists === undefined) return undefined;
    if (type !== TYPE_A) return type === TYPE_AAAA ? lists[0]?.filter((each) => isIP(each) === 6) : [];
    asked.push(name);
    return (lists.length > 1 ? lists.shift() : lists[0])?.filter((each) => isIP(each) === 4);
  };
  socket.on('message', (query, peer) => {
    const { name, type, end } = questionOf(query);
    if (hanging.has(name)) return void asked.push(name);
    socket.send(reply(query.subarray(0, end), addressesOf(name, type)), peer.port, peer.address);
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    asked,
    hang: (name) => void hanging.add(name),
    port: socket.address().port,
    answer: (name, ...addresses) => void zone.set(name, [...addresses]),
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** To a question alone, without what may follow it; `undefined`: there is no such name. */
function reply(question: Buffer, addresses: readonly string[] | undefined): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(addresses === undefined ? FLAGS | NAME_ERROR : FLAGS, 2);
  head.writeUInt16BE(addresses?.length ?? 0, 6);
  head.writeUInt32BE(0, 8);
  const records = (addresses ?? []).map((address) => {
    const bytes = bytesOf(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(SAME_NAME, 0);
    record.writeUInt16BE(bytes.length === 4 ? TYPE_A : TYPE_AAAA, 2);
    record.writeUInt16BE(CLASS_IN, 4);
    // Four bytes of time to live stay zero.
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([head, ...records]);
}

/** An IPv6 address has at most eight groups, and `::` for those that are zero. */
function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
