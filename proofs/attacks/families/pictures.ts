/** Account pictures with URLs outside Steam, or with more in the URL than Steam puts there: family 9. */
import { readProfile } from '../../../gateway/steam/web/profile.ts'
import { type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const PROFILE = 'gateway/steam/web/profile.ts'
const HOSTS = { avatarBase: 'https://pictures.test', communityBase: 'https://steam.test' }
const STEAM_ID = '76561198000000001'
const HASH = 'a'.repeat(40)
const DEFAULT_PICTURE = 'https://pictures.test/fef49e7fa7e1997310d705b2a6158ff8dc1cdfeb_full.jpg'

/** The picture's URL on the profile's page and in its miniprofile. */
type PictureUrls = { xml: string; mini: string }

/** Resolves to the picture URL that the gateway reads from a profile with these URLs. */
async function pictureOf({ xml, mini }: PictureUrls): Promise<string> {
  const page = `<profile><steamID64>${STEAM_ID}</steamID64><steamID><![CDATA[ann]]></steamID><avatarFull><![CDATA[${xml}]]></avatarFull></profile>`
  const answer = await readProfile(
    async ({ name }) => ({
      kind: 'reply',
      status: 200,
      eresult: null,
      body: name === 'profile' ? page : { level: 1, avatar_url: mini, persona_name: 'ann' },
    }),
    STEAM_ID,
    HOSTS,
  )
  if (answer.kind !== 'profile') throw new Error(`the profile is ${answer.kind}`)
  return answer.profile.avatarUrl
}

const PATH = `/${HASH}_full.jpg`
/** Genuine paths at places that Steam never uses. */
const FOREIGN_URLS = [
  'https://evil.test',
  'http://avatars.steamstatic.com',
  'https://steamstatic.com.evil.test',
  'https://avatarssteamstatic.com',
  'https://evil.test/avatars.steamstatic.com',
  'https://127.0.0.1',
  'https://avatars.steamstatic.com@evil.test',
  'https://avatars.steamstatic.com.evil.test',
  'ftp://steamstatic.com',
  'https://steamstatic.com%2eevil.test',
  'https://evil.test:444',
  'https://steamstatic.com.',
  'https://akamaihd.net.evil.test',
  'https://xn--steamstatic-x.com',
  'https://[::1]',
  'https://steamstatic.co',
  'javascript://steamstatic.com',
  'data://steamstatic.com',
  'blob:https://steamstatic.com',
  'https://steamstatic.comm',
].map((place) => `${place}${PATH}`)
/** URLs on Steam's host with more before or after the path of a picture. */
const ODD_PATHS = [
  `${PATH}?x="><script>`,
  `${PATH}#"onerror=x`,
  `/x/..${PATH}`,
  `/x"y${PATH}`,
  `//evil.test${PATH}`,
  `/<script>${PATH}`,
  `/%0d%0a${PATH}`,
  `/%22%20onerror=x${PATH}`,
  `/\\evil.test${PATH}`,
  `/;x${PATH}`,
].map((tail) => `https://avatars.steamstatic.com${tail}`)

const bySource = (urls: readonly string[]): [what: string, urls: PictureUrls][] =>
  urls.flatMap((url): [string, PictureUrls][] => [
    [`${url} on the page`, { xml: url, mini: '' }],
    [`${url} in the miniprofile`, { xml: '', mini: url }],
  ])

export const pictures: Family = family({
  number: 9,
  name: 'pictures with foreign or odd URLs',
  kind: 'parts',
  defences: {
    'hosts of Steam': {
      at: `${PROFILE} avatarUrl`,
      off: [{ file: PROFILE, from: 'const hash = isTrusted ? ', to: 'const hash = true ? ' }],
    },
    'only the hash': {
      at: `${PROFILE} avatarUrl`,
      off: [
        {
          file: PROFILE,
          from: 'DEFAULT_AVATAR}_full.jpg`',
          // Discards the address that was built, and returns Steam's URL.
          to: 'DEFAULT_AVATAR}_full.jpg`.slice(0, 0) + url',
        },
      ],
    },
  },
  async honest() {
    const url = await pictureOf({ xml: `https://avatars.steamstatic.com${PATH}`, mini: '' })
    return problemIf(!url.endsWith(PATH), `Steam’s own picture becomes ${url}`)
  },
  cases: () => [
    ...bySource(FOREIGN_URLS).map(([what, urls]) => ({
      what,
      stoppedBy: 'hosts of Steam' as const,
      async attack() {
        const url = await pictureOf(urls)
        return problemIf(url !== DEFAULT_PICTURE, `the picture is ${url}`)
      },
    })),
    ...bySource(ODD_PATHS).map(([what, urls]) => ({
      what,
      stoppedBy: 'only the hash' as const,
      async attack() {
        const url = await pictureOf(urls)
        return problemIf(
          ![DEFAULT_PICTURE, `${HOSTS.avatarBase}${PATH}`].includes(url),
          `the picture is ${url}`,
        )
      },
    })),
  ],
})
