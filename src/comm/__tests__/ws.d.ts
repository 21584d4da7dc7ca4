// The part of `ws` that the tests use; its own types are not installed.
declare module 'ws' {
  export class WebSocketServer {
    constructor(options: { host: string; port: number });
    address(): { port: number };
    on(event: 'connection', listener: (socket: WebSocket) => void): void;
    once(event: 'listening', listener: () => void): void;
    close(done: () => void): void;
  }

  export class WebSocket {
    on(
      event: 'message',
      listener: (data: { toString(): string }) => void
    ): void;
    send(data: string): void;
    terminate(): void;
    close(): void;
  }
}
