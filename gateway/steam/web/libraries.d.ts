/** Declares only those parts of the untyped client libraries that we use, so no other part can be called. */

declare module 'request' {
  import type { Agent } from 'node:https'

  export type RequestOptions = {
    uri?: string
    method?: 'GET' | 'POST'
    qs?: Record<string, string | number>
    form?: Record<string, string | number>
    headers?: Record<string, string>
    json?: boolean
    timeout?: number
    followRedirect?: boolean | ((response: Response) => boolean)
    agent?: Agent
    forever?: boolean
  }
  export type Response = {
    statusCode: number
    headers: Record<string, string | string[] | undefined>
    request: { method: string; uri: { href: string } }
  }
  export type RequestCallback = (error: Error | null, response?: Response, body?: unknown) => void
  export type RunningRequest = {
    abort(): void
    on(event: 'data', listener: (chunk: Buffer | string) => void): void
  }
  export interface RequestApi {
    (options: RequestOptions, callback: RequestCallback): RunningRequest
    defaults(options: RequestOptions): RequestApi
  }
  const request: RequestApi
  export default request
}

declare module 'steamcommunity' {
  import type { RequestCallback, RequestOptions } from 'request'

  type CommunityCall = RequestOptions & {
    uri: string
    checkHttpError: false
    checkCommunityError: false
    checkTradeError: false
    checkJsonError: false
  }
  export default class SteamCommunity {
    constructor(options: {
      request: (options: RequestOptions, callback: RequestCallback) => unknown
      timeout: number
    })
    httpRequest(options: CommunityCall, callback: RequestCallback): void
    getSessionID(): string
    acknowledgeTradeProtection(callback: (error: Error | null) => void): void
  }
}

declare module 'steam-tradeoffer-manager' {
  import type SteamCommunity from 'steamcommunity'

  type NewOffer = {
    addTheirItem(item: { appid: number; contextid: string; assetid: string }): boolean
    setMessage(message: string): void
    send(callback: (error: Error | null) => void): void
  }
  export default class TradeOfferManager {
    constructor(options: {
      community: SteamCommunity
      pollInterval: -1
      dataDirectory: null
      useAccessToken: true
    })
    pollData: object
    setCookies(cookies: string[], callback: (error?: Error | null) => void): void
    createOffer(partner: string, token: string): NewOffer
    shutdown(): void
  }
}

declare module 'steam-totp' {
  /** The code that the authenticator with this secret (base64 or hex) shows now. */
  export function generateAuthCode(sharedSecret: string): string
}
