/** The way from the internet to the gateway, as its public address answered. Pure checks. */
import { type Finding, good, mend, notChecked } from './finding.ts'

/** Nobody has this address: it is for documents (RFC 5737). */
export const MADE_UP_ADDRESS = '192.0.2.77'

const DAY_MS = 86_400_000
const CERTIFICATE_MS = 14 * DAY_MS

export type PublicAnswer =
  | { kind: 'failed'; reason: string }
  | {
      kind: 'answered'
      /** Of the till that answered; undefined if something else did. */
      build: { version: string; commit: string } | undefined
      /** How the gateway saw the call, whose X-Forwarded-For named MADE_UP_ADDRESS; undefined if it did not tell. */
      caller: { address: string; protocol: string; isProxy: boolean } | undefined
      certificateEndsMs: number | undefined
      hsts: string | null
      /** The page, and how a file of it comes that a browser takes compressed. */
      page: { status: number; encoding: string | null }
      /** To a body of the largest size that the till takes. */
      largeBody: { status: number; isOurs: boolean }
      plain: { kind: 'closed' } | { kind: 'answered'; status: number; location: string }
    }

const CHECKS = [
  'public',
  'proxy.caller',
  'proxy.tls',
  'proxy.hsts',
  'proxy.compression',
  'proxy.body',
  'proxy.http',
]

export function proxyFindings(answer: PublicAnswer, ours: { version: string; nowMs: number }): Finding[] {
  const [first = '', ...others] = CHECKS
  if (answer.kind === 'failed') {
    const advice = 'check TRADETILL_PUBLIC_URL, its DNS entry, the proxy, and that the gateway runs'
    const left = others.map((check) => notChecked(check, 'the public address does not answer'))
    return [mend(first, `does not answer: ${answer.reason}`, advice), ...left]
  }
  if (answer.build === undefined) {
    const advice = 'let the proxy hand everything under this name to TRADETILL_HOST and TRADETILL_PORT'
    const left = others.map((check) => notChecked(check, 'no till answers'))
    return [mend(first, 'something else than a till answers', advice), ...left]
  }
  return [
    reachedOf(answer.build.version, answer.page.status, ours.version),
    callerOf(answer.caller),
    tlsOf('proxy.tls', answer.certificateEndsMs, ours.nowMs),
    hstsOf(answer.hsts),
    compressionOf(answer.page),
    bodyOf(answer),
    plainOf(answer.plain),
  ]
}

type Answered = Extract<PublicAnswer, { kind: 'answered' }>

/** A till tells its version to everybody, and its page only to those who call it by its name. */
const WRONG_HOST = 421

function reachedOf(version: string, pageStatus: number, ours: string): Finding {
  if (pageStatus === WRONG_HOST) {
    const advice =
      'let the proxy hand on the Host header, and TRADETILL_PUBLIC_URL of the gateway name the same host'
    return mend('public', 'the till is called by a name that is not its own', advice)
  }
  if (version === ours) return good('public', `a till of version ${version} answers`)
  return mend(
    'public',
    `version ${version} answers, and this is ${ours}`,
    'start the gateway of this version',
  )
}

function callerOf(caller: Answered['caller']): Finding {
  const check = 'proxy.caller'
  if (caller === undefined) {
    return notChecked(
      check,
      'the gateway did not accept the proof: it has another master key, or another clock',
    )
  }
  if (caller.address === MADE_UP_ADDRESS) {
    const advice = 'let the proxy append to X-Forwarded-For: nginx needs $proxy_add_x_forwarded_for'
    return mend(check, 'callers can choose their own address', advice)
  }
  if (caller.protocol !== 'https') {
    return mend(check, 'the gateway sees plain http', 'let the proxy send X-Forwarded-Proto: https')
  }
  if (caller.isProxy) {
    const advice =
      'let the proxy send X-Forwarded-For, and name it in TRADETILL_TRUSTED_PROXIES; if /etc/hosts leads the public name to 127.0.…, take it out there'
    return mend(check, `the gateway sees callers as ${caller.address}, which is a proxy`, advice)
  }
  return good(check, `the gateway sees us as ${caller.address}`)
}

export function tlsOf(check: string, endsMs: number | undefined, nowMs: number): Finding {
  if (endsMs === undefined) return notChecked(check, 'the certificate could not be read')
  const days = Math.floor((endsMs - nowMs) / DAY_MS)
  const says = `the certificate ends in ${days} days`
  if (endsMs - nowMs > CERTIFICATE_MS) return good(check, says)
  return mend(check, says, 'renew it, and see why nothing did')
}

function hstsOf(hsts: string | null): Finding {
  if (hsts === null) {
    const advice = 'leave the headers of the gateway as they are: it sends Strict-Transport-Security'
    return mend('proxy.hsts', 'there is no Strict-Transport-Security', advice)
  }
  // Headers of one name are joined.
  if (!hsts.includes(',')) return good('proxy.hsts', hsts)
  return mend('proxy.hsts', 'is sent twice', 'take it out of the proxy: the gateway sends it')
}

function compressionOf({ status, encoding }: Answered['page']): Finding {
  if (status !== 200) return notChecked('proxy.compression', `the page answers with ${status}`)
  if (encoding !== null) return good('proxy.compression', `the page comes as ${encoding}`)
  const advice = 'let the proxy hand on Accept-Encoding: the files are compressed already'
  return mend('proxy.compression', 'the page comes uncompressed', advice)
}

function bodyOf({ page, largeBody: { status, isOurs } }: Answered): Finding {
  if (page.status !== 200) return notChecked('proxy.body', `the page answers with ${page.status}`)
  if (isOurs) return good('proxy.body', 'a body of 60 KB reaches the gateway')
  const advice = 'let the proxy take bodies of 64 KB: nginx client_max_body_size, Caddy request_body'
  return mend('proxy.body', `the proxy answers a body of 60 KB with ${status}`, advice)
}

function plainOf(plain: Answered['plain']): Finding {
  if (plain.kind === 'closed') return good('proxy.http', 'nothing answers plain http')
  const isRedirect = plain.status >= 300 && plain.status < 400 && plain.location.startsWith('https://')
  if (isRedirect) return good('proxy.http', 'plain http leads to https')
  return mend(
    'proxy.http',
    `plain http is answered with ${plain.status}`,
    'redirect it to https at the proxy',
  )
}
