// Runs a scene in its own network namespace (own-network.ts), and prints the result as JSON.
import { connect, createServer } from 'node:net';
import { TEST_SERVER_VARIABLE } from '../support/test-server.ts';
import { playRebinding } from './rebinding-scene.ts';

const { port } = new URL(JSON.parse(process.env[TEST_SERVER_VARIABLE]).adminUrl);
createServer((client) => {
  const upstream = connect(process.env.HAULBRIDGE_TEST_BRIDGE);
  client.pipe(upstream).pipe(client);
  client.on('error', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
}).listen(Number(port), '127.0.0.1');
process.stdout.write(JSON.stringify(await playRebinding()), () => process.exit(0));
