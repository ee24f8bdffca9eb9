/**
 * A real nginx and gateway, each time broken in one way. The doctor must name the checks that then fail, and no others.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../../e2e/support/process.ts'
import { DEFAULT_CERTIFICATE, NGINX } from './proxies.ts'
import type { Check } from './proxy-duties.ts'
import { examine, startTill } from './till.ts'

type Broken = {
  what: string
  /** A replacement in the proxy's configuration file, which must contain `from`. */
  replaces?: readonly [from: string | RegExp, to: string]
  /** Settings for the doctor, in place of the gateway's. */
  settings?: Record<string, string>
  certificate?: { days?: string; names?: string; isTrusted?: boolean }
  /** The checks that must fail. */
  failing: readonly string[]
}

/** The line that passes on the scheme of the call. */
const SCHEME_LINE = 'proxy_set_header X-Forwarded-Proto $scheme;'

/** A line that does not affect the doctor. Some faults take its place. */
const SPARE_LINE = 'proxy_read_timeout 60s;'

const BROKEN: readonly Broken[] = [
  {
    what: 'no address of the caller',
    replaces: [/X-Forwarded-For \$remote_addr/g, 'X-Forwarded-For ""'],
    failing: ['proxy.caller'],
  },
  {
    what: 'any address that the caller claims',
    replaces: [/X-Forwarded-For \$remote_addr/, 'X-Forwarded-For $http_x_forwarded_for'],
    failing: ['proxy.caller'],
  },
  { what: 'no mention of https', replaces: [SCHEME_LINE, ''], failing: ['proxy.caller'] },
  {
    what: 'https reported as http',
    replaces: [SCHEME_LINE, 'proxy_set_header X-Forwarded-Proto http;'],
    failing: ['proxy.caller'],
  },
  { what: 'another Host header', replaces: ['Host $host', 'Host $proxy_host'], failing: ['public'] },
  {
    what: 'no HSTS',
    replaces: [SPARE_LINE, 'proxy_hide_header Strict-Transport-Security;'],
    failing: ['proxy.hsts'],
  },
  {
    what: 'HSTS twice',
    replaces: [SPARE_LINE, 'add_header Strict-Transport-Security "max-age=1" always;'],
    failing: ['proxy.hsts'],
  },
  {
    what: 'no compression',
    replaces: [SPARE_LINE, 'proxy_set_header Accept-Encoding "";'],
    failing: ['proxy.compression'],
  },
  {
    what: 'a low limit on bodies',
    replaces: [/client_max_body_size 128k;/, 'client_max_body_size 16k;'],
    failing: ['proxy.body'],
  },
  {
    what: 'plain http without a redirect',
    replaces: ['return 308 https://$host$request_uri;', 'return 200;'],
    failing: ['proxy.http'],
  },
  {
    what: 'plain http that redirects to http',
    replaces: ['return 308 https://$host$request_uri;', 'return 302 http://$host/other;'],
    failing: ['proxy.http'],
  },
  {
    what: 'a port without a listener',
    replaces: [/proxy_pass http:\/\/127\.0\.0\.1:\d+/, 'proxy_pass http://127.0.0.1:1'],
    failing: ['public'],
  },
  {
    what: 'a page that is not the till’s',
    replaces: ['location / {\n    proxy_pass', 'location / {\n    return 200 "hello";\n    proxy_pass'],
    failing: ['public'],
  },
  {
    what: 'a certificate about to expire',
    certificate: { days: '3' },
    failing: ['proxy.tls', 'console.tls'],
  },
  {
    what: 'an untrusted certificate',
    certificate: { isTrusted: false },
    failing: ['public', 'console'],
  },
  {
    what: 'a certificate for another name',
    certificate: { names: 'DNS:other.example,DNS:till-ops.example' },
    failing: ['public'],
  },
  {
    what: 'a public name that does not resolve',
    settings: { TRADETILL_PUBLIC_URL: 'https://nowhere.invalid' },
    failing: ['public'],
  },
  {
    what: 'a console address that leads to the page',
    settings: { TRADETILL_CONSOLE_URL: 'https://other.example' },
    certificate: { names: 'DNS:pay.example,DNS:till-ops.example,DNS:other.example' },
    failing: ['console'],
  },
  {
    what: 'the settings of a sandbox',
    settings: {
      TRADETILL_MODE: 'sandbox',
      TRADETILL_PUBLIC_URL: 'http://localhost:1',
      TRADETILL_CONSOLE_URL: 'http://localhost:2',
    },
    failing: ['mode', 'database.identity', 'public', 'console', 'console.origin'],
  },
  { what: 'no trusted proxy', settings: { TRADETILL_TRUSTED_PROXIES: '' }, failing: ['settings'] },
  { what: 'no master key', settings: { TRADETILL_MASTER_KEY: '' }, failing: ['settings'] },
  {
    what: 'another master key',
    settings: { TRADETILL_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') },
    failing: ['database.identity'],
  },
  {
    what: 'a missing database',
    settings: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    failing: ['database'],
  },
]

/** Each broken set-up must fail exactly its `failing` checks, in addition to those that the unbroken one fails. */
export async function checkBroken({
  folder,
  databaseUrl,
}: {
  folder: string
  databaseUrl: string
}): Promise<Check[]> {
  const [page = 0, console = 0, tls = 0, plain = 0] = await freePorts(4)
  const upstreams = { page, console }
  const till = await startTill(databaseUrl, upstreams)
  let number = 0
  const failingChecks = async ({
    replaces,
    settings = {},
    certificate = {},
  }: Omit<Broken, 'what' | 'failing'>) => {
    number += 1
    const ownFolder = join(folder, `broken-${number}`)
    mkdirSync(ownFolder)
    const { isTrusted = true, ...changes } = certificate
    const running = await NGINX.start({
      folder: ownFolder,
      upstreams,
      ports: [tls, plain],
      mayOpenConsole: true,
      edit: (text) => edit(text, replaces),
      certificateRequest: { ...DEFAULT_CERTIFICATE, ...changes },
    })
    const findings = await examine(till, running.address, { trustsCertificate: isTrusted, settings }).finally(
      () => running.stop(),
    )
    return findings.filter(({ state }) => state === 'mend').map(({ check }) => check)
  }
  try {
    const failingUnbroken = new Set(await failingChecks({}))
    const checks: Check[] = []
    for (const { what, failing, ...fault } of BROKEN) {
      const named = (await failingChecks(fault)).filter((check) => !failingUnbroken.has(check))
      const isRight = named.join() === failing.join()
      checks.push({
        name: `the doctor detects this fault: ${what}`,
        why: isRight ? '' : `named ${named.join() || 'nothing'}`,
      })
    }
    return checks
  } finally {
    await till.kill()
  }
}

function edit(text: string, replaces: Broken['replaces']): string {
  if (replaces === undefined) return text
  const changed = text.replace(...replaces)
  if (changed === text) throw new Error(`the file does not contain ${replaces[0]}`)
  return changed
}
