// A network around a process (`--import`): names lead to the addresses that are written in them, and what is connected to at
// the https port arrives at this machine, at one port for public addresses and at another one for all others. The process
// looks up, judges and connects as it always does. `ATTACK_NETWORK`: the two ports.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const [outside, inside] = (process.env.ATTACK_NETWORK ?? '').split(' ').map(Number);
/** In the test net of these attacks it stands for every public address. */
const publicAddress = '93.184.215.14';
const seen = new Map();

/** `10-0-0-5.names.example`; `a-and-b`: both; `a-then-b`: the first at the first look-up, the second after it; x in place of a colon. */
function addressesOf(name) {
  const [, label] = /^([\w-]+)\.names\.example\.?$/.exec(name) ?? [];
  if (label === undefined) return /\.example\.?$/.test(name) ? [publicAddress] : undefined;
  const steps = label.split('-then-');
  const step = Math.min(seen.get(name) ?? 0, steps.length - 1);
  seen.set(name, step + 1);
  return steps[step]
    .split('-and-')
    .map((one) => (one.includes('x') ? one.replaceAll('x', ':') : one.replaceAll('-', '.')));
}

const { lookup } = dns;
dns.lookup = (name, options, callback) => {
  const found = addressesOf(`${name}`);
  if (!found) return lookup(name, options, callback);
  const [settings, done] = typeof options === 'function' ? [{}, options] : [options, callback];
  const all = found.map((address) => ({ address, family: net.isIP(address) }));
  process.nextTick(() => (settings?.all ? done(null, all) : done(null, all[0].address, all[0].family)));
};
syncBuiltinESMExports();

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...args) {
  // As `net.connect` passes them on, or as they were given.
  const [options, connected] = Array.isArray(args[0]) ? args[0] : args;
  if (Number(options?.port) !== 443) return connect.apply(this, args);
  const route = (address) => {
    const port = address === publicAddress ? outside : inside;
    connect.call(this, { ...options, lookup: undefined, host: '127.0.0.1', port }, connected);
  };
  const { host } = options;
  if (net.isIP(host)) route(host);
  // Whoever connects judges the addresses here; what comes after it is the network.
  else
    (options.lookup ?? dns.lookup)(host, { all: true }, (error, found) => {
      if (error) this.destroy(error);
      else route(found[0].address);
    });
  return this;
};
