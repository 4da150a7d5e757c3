/** Starts a gRPC server without TLS on a free port of this machine. */
import { type Server, ServerCredentials } from '@grpc/grpc-js';

/** @returns the port. */
export function bindServer(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => (error === null ? resolve(port) : reject(error)));
  });
}
