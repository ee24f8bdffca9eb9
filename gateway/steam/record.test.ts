/** A record identifies nobody, and the port reads it like the real answers. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startSteam } from '../../steam-sandbox/start.ts'
import { replay } from '../testing/steam-replay.ts'
import { checkPort } from './port-checks.ts'
import { type RawReply, redact } from './record.ts'
import type { Rule } from './record-fields.ts'
import { steamRecord, toRecord } from './record-file.ts'
import type { Steam, SteamSession } from './steam.ts'
import { createSandboxAgent } from './web/agent.ts'
import { createWebSteam } from './web/web-steam.ts'

const RECORDS = new URL('../testing/steam-records/', import.meta.url)

/** Wraps the port. Adds every answer but that of `openSession` to `answers`, in order. */
function recordAnswers(steam: Steam, answers: unknown[]): Steam {
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(original, name) {
        const member: unknown = Reflect.get(original, name)
        if (typeof member !== 'function' || name === 'close') return member
        return async (...args: unknown[]) => {
          const answer: unknown = await Reflect.apply(member, original, args)
          answers.push([name, answer])
          return answer
        }
      },
    })
  return {
    ...wrap(steam),
    readProfile: wrap(steam).readProfile,
    async openSession(token) {
      const answer = await steam.openSession(token)
      return answer.kind === 'open' ? { ...answer, session: wrap<SteamSession>(answer.session) } : answer
    },
  }
}

const RULE_OF_FIELD: Record<string, Rule> = {
  steamId: 'person',
  partnerSteamId: 'person',
  assetId: 'asset',
  newAssetId: 'asset',
  rolledBackAssetId: 'asset',
  offerId: 'offer',
  tradeId: 'trade',
  rollbackOf: 'trade',
  avatarUrl: 'picture',
  message: 'message',
}

/** Returns the answers with stand-ins for ids, names, pictures and messages, and without `profileUrl`. */
function withStandIns(answers: unknown, { standIn }: Pick<ReturnType<typeof redact>, 'standIn'>): unknown {
  return JSON.parse(
    JSON.stringify(answers, function (this: object, field: string, value: unknown) {
      const rule = field === 'name' && 'avatarUrl' in this ? 'name' : RULE_OF_FIELD[field]
      if (field === 'profileUrl') return undefined
      return rule !== undefined && typeof value === 'string' ? standIn(rule, value) : value
    }),
  )
}

describe('a record of a run against the sandbox', () => {
  it.each([false, true])(
    'identifies nobody, and is read like the real answers (accepted: %s)',
    async (isAccepted) => {
      const sandbox = await startSteam({ port: 0 })
      const shopper = sandbox.as('nova_hound')
      const bot = sandbox.world().accounts.find(({ kind }) => kind === 'bot')
      const refreshToken = sandbox.as(bot?.steamId ?? '').refreshToken()
      const token = new URL(shopper.tradeUrl()).searchParams.get('token') ?? ''
      const partner = { steamId: shopper.steamId, token }
      const item = shopper.tradable(730)[0]?.assetId ?? ''
      const at = new Date()
      const replies: RawReply[] = []
      const answers: unknown[] = []
      let passed = 0
      const web = createWebSteam({
        redirect: createSandboxAgent('sandbox', sandbox.url),
        time: { now: () => performance.now(), pause: async () => {} },
        onReply: (reply) => void replies.push(reply),
      })
      await checkPort({
        steam: recordAnswers(web, answers),
        refreshToken,
        partner,
        game: 'cs',
        clock: { now: () => at },
        pause: async () => {},
        onPassed() {
          passed += 1
        },
        smoke: {
          choose: (items) => items.find(({ assetId }) => assetId === item),
          ...(isAccepted
            ? { accept: async ({ offerId }: { offerId: string }) => void shopper.accept(offerId) }
            : {}),
        },
      })
      const accounts = sandbox.world().accounts.map(({ steamId, name }) => ({ steamId, name }))
      await sandbox.close()
      const run = { at, game: 'cs' as const, bot: bot?.steamId ?? '', partner, item, isAccepted, passed }
      const file = JSON.stringify(toRecord({ ...run, isComplete: true, replies }))
      const secrets = [refreshToken, refreshToken.split('.')[2] ?? '', token, item, run.bot, partner.steamId]
      const sessionSecrets = replies.flatMap(({ url }) =>
        ['access_token', 'sessionid'].flatMap((name) => new URL(url).searchParams.get(name) ?? []),
      )
      expect(sessionSecrets.length).toBeGreaterThan(0)
      for (const secret of [...secrets, ...sessionSecrets]) {
        expect(file.includes(secret), secret).toBe(false)
      }
      for (const { steamId, name } of accounts) {
        expect(file.includes(steamId), steamId).toBe(false)
        expect(file.includes(name), name).toBe(false)
      }
      expect(/eyJ|[Cc]ookie/.test(file)).toBe(false)

      const replayed: unknown[] = []
      const record = steamRecord.parse(JSON.parse(file))
      expect(await replay(record, (steam) => recordAnswers(steam, replayed))).toMatchObject({
        passed: { length: passed },
        failure: undefined,
        unsent: [],
      })
      const { standIn } = redact(replies, [run.bot, partner.steamId])
      expect(withStandIns(replayed, { standIn: (_rule, value) => value })).toEqual(
        withStandIns(answers, { standIn }),
      )
    },
  )
})

const reply = (body: unknown, url = 'https://api.steampowered.com/IEconService/X/v1/'): RawReply => ({
  method: 'GET',
  url,
  status: 200,
  headers: { 'content-type': 'application/json', 'set-cookie': ['sessionid=1'], 'x-eresult': '1' },
  body,
})
const bodyOf = (body: unknown) => redact([reply(body)]).replies[0]?.body

describe('a redacted answer of Steam', () => {
  it('masks the texts and numbers of unlisted fields', () => {
    expect(
      bodyOf({ secret: 'aB3_-x', at: 17, wear: 0.25, on: true, none: null, abc123def: ['q', '55'] }),
    ).toEqual({
      secret: 'xxxxxx',
      at: 0,
      wear: 0,
      on: true,
      none: null,
      xxx000xxx: ['x', '00'],
    })
  })

  it('keeps only the listed headers', () => {
    expect(redact([reply({})]).replies[0]?.headers).toEqual({
      'content-type': 'application/json',
      'x-eresult': '1',
    })
  })

  it('has one stand-in for all forms of an id, and the stand-ins keep the order of the ids', () => {
    const person = '76561197960269729'
    const body = {
      rgInventory: { '40000000009': { id: '40000000009', classid: '1', instanceid: '0' } },
      assets: [{ assetid: '9999' }, { assetid: '40000000009', new_assetid: '0' }],
      steamid_other: person,
      accountid_other: 4001,
    }
    const url = `https://steamcommunity.com/inventory/${person}/730/2?start_assetid=9999&access_token=aaBB22`
    const [first] = redact([reply(body, url)]).replies
    expect(first?.body).toEqual({
      rgInventory: { '10000000002': { id: '10000000002', classid: '1', instanceid: '0' } },
      assets: [{ assetid: '10000000001' }, { assetid: '10000000002', new_assetid: '0' }],
      steamid_other: '76561201960265729',
      accountid_other: 4_000_000_001,
    })
    expect(first?.place).toBe('steamcommunity.com/inventory/76561201960265729/730/2')
    expect(first?.query).toEqual({ start_assetid: '10000000001', access_token: 'xxxxxx' })
  })

  it('replaces the chosen name in the address of a profile', () => {
    const [first] = redact([reply({}, 'https://steamcommunity.com/id/JohnSmith/?xml=1')]).replies
    expect(first?.place).not.toContain('JohnSmith')
    expect(first?.place).toMatch(/^steamcommunity\.com\/id\/[^/]+\/$/)
  })

  it('keeps the paint of an item, and nothing that identifies it', () => {
    const properties = [
      { propertyid: 1, int_value: '661' },
      { propertyid: 2, float_value: '0.0215' },
      { propertyid: 7, int_value: '415' },
    ]
    const body = {
      assets: [{ assetid: '40000000009' }],
      rgAssetProperties: { '40000000009': properties },
      asset_properties: [{ assetid: '40000000009', asset_properties: properties }],
    }
    const kept = [
      { propertyid: 1, int_value: '000' },
      { propertyid: 2, float_value: '000000' },
      { propertyid: 7, int_value: '415' },
    ]
    expect(redact([reply(body)]).replies[0]?.body).toEqual({
      assets: [{ assetid: '10000000001' }],
      rgAssetProperties: { '10000000001': kept },
      asset_properties: [{ assetid: '10000000001', asset_properties: kept }],
    })
  })

  it('keeps the names of items and the dates in a line, but not names that owners gave', () => {
    expect(
      bodyOf([
        { name: 'AWP | Asiimov', market_hash_name: 'AWP | Asiimov', fraudwarnings: ['Name Tag: “Bob”'] },
        { name: '“Bob Ö 7”', market_hash_name: 'AWP | Asiimov' },
        { category: 'Rarity', internal_name: 'Rare', name: 'Rare' },
        { value: 'Gift of Bob, until Apr 13, 2026 (7:00:00) GMT' },
        { value: '( Gift of Bob )' },
      ]),
    ).toEqual([
      { name: 'AWP | Asiimov', market_hash_name: 'AWP | Asiimov', fraudwarnings: ['x'.repeat(15)] },
      { name: '*Xxx X 0*', market_hash_name: 'AWP | Asiimov' },
      { category: 'Rarity', internal_name: 'Rare', name: 'Rare' },
      { value: 'Xxxx xx Xxx, xxxxx Apr 13, 2026 (7:00:00) GMT' },
      { value: '( Xxxx xx Xxx )' },
    ])
  })

  it("keeps Steam's own words in a refusal, without names", () => {
    expect(bodyOf({ strError: 'You cannot trade with Bob17 because they have a trade ban. (26)' })).toEqual({
      strError: 'You cannot trade with xxxxx because they have a trade ban. (26)',
    })
    expect(bodyOf('<h1>Access is denied</h1> for Bob &amp; eyJhbGci')).toBe(
      '<xx>Access is denied</xx> for xxx &xxx; xxxxxxxx',
    )
  })

  it('keeps the fields of a profile without their values', () => {
    const hash = 'fef49e7fa7e1997310d705b2a6158ff8dc1cdfeb'
    const page = [
      '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><profile>',
      '\t<steamID64>76561197960269729</steamID64>',
      '\t<steamID><![CDATA[Bob <b>]]></steamID>',
      `\t<avatarFull><![CDATA[https://avatars.steamstatic.com/${hash}_full.jpg]]></avatarFull>`,
      '\t<summary><![CDATA[I am <a href="https://bob.example">Bob</a> of Berlin]]></summary><odd name="Bob">9</odd>',
      '<half',
    ]
    expect(String(bodyOf(page.join('\n'))).split('\n')).toEqual([
      page[0],
      '\t<steamID64>76561201960265729</steamID64>',
      '\t<steamID><![CDATA[Xxx <x>]]></steamID>',
      `\t<avatarFull><![CDATA[https://avatars.steamstatic.com/${'a'.repeat(40)}_full.jpg]]></avatarFull>`,
      `\t<summary><![CDATA[${'x'.repeat(20)}]]></summary><x>0</odd>`,
      '<x>',
    ])
  })
})

// There may be no record yet: only a run against the real Steam makes one.
it.each(readdirSync(RECORDS).filter((name) => name.endsWith('.json')))(
  'the committed record %s passes at least as many checks as when it was made',
  async (name) => {
    const record = steamRecord.parse(JSON.parse(readFileSync(join(RECORDS.pathname, name), 'utf8')))
    const { passed, failure } = await replay(record)
    expect(passed.length, `${name}: ${failure}`).toBeGreaterThanOrEqual(record.passed)
    if (record.isComplete) expect(failure, name).toBeUndefined()
  },
)
