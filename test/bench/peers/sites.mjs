// A partner's side of the Site API. Arguments: how many sites, kiosks and materials. PUT /reworded writes the same data with
// other bytes.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const [sites, kiosks, materials] = process.argv.slice(2).map(Number);
const STAMP = '2026-01-15T10:00:00Z';
const ADDRESS = {
  line1: '4400 Landfill Road',
  city: 'Austin',
  state: 'Texas',
  country: 'United States',
  zipCode: '78744',
};
const each = (count, make) => Array.from({ length: count }, (_, i) => make(i));

function idOf(name) {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const data = {
  sites: each(sites, (i) => ({
    id: idOf(`s${i}`),
    name: `Site ${i}`,
    address: ADDRESS,
    active: true,
    updatedAt: STAMP,
  })),
  kiosks: each(kiosks, (i) => ({
    id: idOf(`k${i}`),
    siteId: idOf(`s${i % sites}`),
    name: `Kiosk ${i}`,
    updatedAt: STAMP,
  })),
  materials: each(materials, (i) => ({
    id: idOf(`m${i}`),
    kioskId: idOf(`k${i % kiosks}`),
    materialType: `Material of type ${i}`,
    measureUnit: 'Ton',
    active: true,
    updatedAt: STAMP,
  })),
};
let version = 0;
let body;
const write = () => (body = Buffer.from(JSON.stringify({ success: true, data, version })));
write();

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
    return;
  }
  version++;
  write();
  response.end();
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
