/** Opens a remote cache by the transport of its address. The libraries of a transport are loaded only here. */
import type { RemoteAddress } from './address/remote-address.js';
import type { Connection, RemoteCache } from './transport/remote-cache.js';

export async function openRemoteCache(address: RemoteAddress, connection: Connection): Promise<RemoteCache> {
  if (address.transport === 'http') return (await import('./http/http-cache.js')).openHttpCache(address, connection);
  return (await import('./grpc/grpc-cache.js')).openGrpcCache(address, connection);
}
