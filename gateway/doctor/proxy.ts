/** The path from the internet to the gateway. Pure checks of the public URL's answers. */
import type { Build } from '../db/build.ts'
import { counted } from '../kit/counted.ts'
import { DAY_MS } from '../kit/duration.ts'
import { type Finding, good, mend, notChecked } from './finding.ts'

/** An address that nobody has: RFC 5737 reserves it for documentation. */
export const MADE_UP_ADDRESS = '192.0.2.77'

/** A certificate with less time left than this should have been renewed. */
const CERTIFICATE_MS = 14 * DAY_MS

type BuildId = Pick<Build, 'version' | 'commit'>

export type PublicAnswer =
  | { kind: 'failed'; reason: string }
  | {
      kind: 'answered'
      /** Build of the till that answered; undefined if something else answered. */
      build: BuildId | undefined
      /**
       * How the gateway saw a call whose X-Forwarded-For was MADE_UP_ADDRESS; undefined if the gateway did not
       * report it.
       */
      caller: { address: string; protocol: string; isProxy: boolean } | undefined
      certificateEndsMs: number | undefined
      hsts: string | null
      /** Status of the page, and the encoding of one of its scripts. */
      page: { status: number; encoding: string | null }
      /** Answer to a body of 60 KB, nearly the largest that the till accepts. `isOurs`: it came from the gateway. */
      largeBody: { status: number; isOurs: boolean }
      /** Answer to plain http. */
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

/** Checks that need https. Only a sandbox can have a public URL without it. */
const CHECKS_OF_HTTPS: ReadonlySet<string> = new Set([
  'proxy.caller',
  'proxy.tls',
  'proxy.hsts',
  'proxy.http',
])
const NO_HTTPS_TEXT = 'TRADETILL_PUBLIC_URL has no https'

type Ours = { build: BuildId; nowMs: number; publicUrl: URL }

export function proxyFindings(answer: PublicAnswer, ours: Ours): Finding[] {
  const [first = '', ...others] = CHECKS
  if (answer.kind === 'failed') {
    const advice = 'check TRADETILL_PUBLIC_URL, its DNS entry, the proxy, and that the gateway runs'
    const unchecked = others.map((check) => notChecked(check, 'the public URL does not answer'))
    return [mend(first, `does not answer: ${answer.reason}`, advice), ...unchecked]
  }
  if (answer.build === undefined && UNREACHED.has(answer.page.status)) {
    const advice =
      'start the gateway (systemctl status tradetill), or correct its address and TRADETILL_PORT in the file of the proxy'
    const unchecked = others.map((check) => notChecked(check, 'the proxy reaches no till'))
    return [mend(first, `the proxy answers ${answer.page.status}: it reaches no till`, advice), ...unchecked]
  }
  if (answer.build === undefined) {
    const advice = 'let the proxy forward everything under this name to TRADETILL_HOST and TRADETILL_PORT'
    const unchecked = others.map((check) => notChecked(check, 'no till answers'))
    return [mend(first, 'something other than a till answers', advice), ...unchecked]
  }
  const findings = [
    reachFinding(answer.build, answer.page.status, ours.build),
    callerFinding(answer.caller),
    tlsFinding('proxy.tls', answer.certificateEndsMs, ours.nowMs),
    hstsFinding(answer.hsts),
    compressionFinding(answer.page),
    bodyFinding(answer),
    plainFinding(answer.plain),
  ]
  if (ours.publicUrl.protocol === 'https:') return findings
  return findings.map((finding) =>
    CHECKS_OF_HTTPS.has(finding.check) ? notChecked(finding.check, NO_HTTPS_TEXT) : finding,
  )
}

type Answered = Extract<PublicAnswer, { kind: 'answered' }>

/** Statuses of a proxy whose server does not answer. */
const UNREACHED: ReadonlySet<number> = new Set([502, 503, 504])

const RESTART = 'restart the gateway (systemctl restart tradetill), so this version answers'

/** Status of a page that is requested under a wrong host name. A till reports its version under any name. */
const WRONG_HOST = 421

function reachFinding(build: BuildId, pageStatus: number, ours: BuildId): Finding {
  if (pageStatus === WRONG_HOST) {
    const advice =
      'let the proxy pass on the Host header, and check that the gateway’s TRADETILL_PUBLIC_URL names the same host'
    return mend('public', 'calls reach the till under a host name that is not its own', advice)
  }
  const { version, commit } = build
  if (version !== ours.version) {
    return mend('public', `version ${version} answers, but this command is version ${ours.version}`, RESTART)
  }
  if (commit !== ours.commit) {
    return mend(
      'public',
      `commit ${commit} of version ${version} answers, but this command is commit ${ours.commit}`,
      RESTART,
    )
  }
  return good('public', `a till of version ${version} answers`)
}

function callerFinding(caller: Answered['caller']): Finding {
  const check = 'proxy.caller'
  if (caller === undefined) {
    return notChecked(
      check,
      'the gateway refused the doctor’s proof of the master key: its key or its clock differs',
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
      'let the proxy send X-Forwarded-For, and name it in TRADETILL_TRUSTED_PROXIES; if /etc/hosts maps the public name to 127.0.…, remove that entry'
    return mend(check, `the gateway sees callers as ${caller.address}, which is a proxy`, advice)
  }
  return good(check, `the gateway sees us as ${caller.address}`)
}

export function tlsFinding(check: string, endsMs: number | undefined, nowMs: number): Finding {
  if (endsMs === undefined) return notChecked(check, 'the certificate could not be read')
  const days = Math.floor((endsMs - nowMs) / DAY_MS)
  const says = `the certificate expires in ${counted(days, 'day')}`
  if (endsMs - nowMs > CERTIFICATE_MS) return good(check, says)
  return mend(check, says, 'renew it, and find out why it was not renewed automatically')
}

function hstsFinding(hsts: string | null): Finding {
  if (hsts === null) {
    const advice = 'let the proxy pass on the header: the gateway sends Strict-Transport-Security'
    return mend('proxy.hsts', 'there is no Strict-Transport-Security', advice)
  }
  // Repeated headers are joined with commas.
  if (!hsts.includes(',')) return good('proxy.hsts', hsts)
  return mend('proxy.hsts', 'is sent twice', 'remove it from the proxy: the gateway sends it')
}

function compressionFinding({ status, encoding }: Answered['page']): Finding {
  if (status !== 200) return notChecked('proxy.compression', `the page answers with ${status}`)
  if (encoding !== null) return good('proxy.compression', `scripts of the page come compressed (${encoding})`)
  const advice = 'let the proxy pass on Accept-Encoding: the files are already compressed'
  return mend('proxy.compression', 'scripts of the page come uncompressed', advice)
}

function bodyFinding({ page, largeBody: { status, isOurs } }: Answered): Finding {
  if (page.status !== 200) return notChecked('proxy.body', `the page answers with ${page.status}`)
  if (isOurs) return good('proxy.body', 'a body of 60 KB reaches the gateway')
  const advice = 'let the proxy accept bodies of 64 KB: nginx client_max_body_size, Caddy request_body'
  return mend('proxy.body', `the proxy answers a body of 60 KB with ${status}`, advice)
}

function plainFinding(plain: Answered['plain']): Finding {
  if (plain.kind === 'closed') return good('proxy.http', 'nothing answers plain http')
  const isRedirect = plain.status >= 300 && plain.status < 400 && plain.location.startsWith('https://')
  if (isRedirect) return good('proxy.http', 'plain http is redirected to https')
  return mend(
    'proxy.http',
    `plain http is answered with ${plain.status}`,
    'redirect it to https at the proxy',
  )
}
