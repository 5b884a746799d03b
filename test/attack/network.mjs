// A simulated network for a process (`--import`): host names resolve to the addresses written in them, but the process
// resolves, checks and connects as usual. Connections to the https port go to this machine: public addresses to one
// port, all others to another. `ATTACK_NETWORK` has the two ports.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const [outside, inside] = (process.env.ATTACK_NETWORK ?? '').split(' ').map(Number);
/** Represents every public address in these attacks. */
const publicAddress = '93.184.215.14';
const seen = new Map();

/**
 * `10-0-0-5.names.example` is one address. `a-and-b` has both. `a-then-b` is `a` at the first lookup and `b`
 * afterwards. An x replaces a colon.
 */
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
  // `net.connect` passes its arguments as an array, other callers pass them directly.
  const [options, connected] = Array.isArray(args[0]) ? args[0] : args;
  if (Number(options?.port) !== 443) return connect.apply(this, args);
  const route = (address) => {
    const port = address === publicAddress ? outside : inside;
    connect.call(this, { ...options, lookup: undefined, host: '127.0.0.1', port }, connected);
  };
  const { host } = options;
  if (net.isIP(host)) route(host);
  // The caller checks the addresses in its own lookup. The routing comes after that.
  else
    (options.lookup ?? dns.lookup)(host, { all: true }, (error, found) => {
      if (error) this.destroy(error);
      else route(found[0].address);
    });
  return this;
};
