import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Incoming, Reply } from '../http.ts'
import { CATALOGUE, iconPath } from '../items.ts'

type Icons = { icons: Record<string, { body: string }> }

let icons: Icons['icons'] | undefined

function bodyOf(icon: string): string | undefined {
  if (!icons) {
    const file = fileURLToPath(import.meta.resolve('@iconify-json/game-icons/icons.json'))
    const read: Icons = JSON.parse(readFileSync(file, 'utf8'))
    icons = read.icons
  }
  return Object.hasOwn(icons, icon) ? icons[icon]?.body : undefined
}

/** Serves pictures of items, built from the icons of a package, and drawn avatars of people. */
export function images({ method, path }: Incoming): Reply | undefined {
  if (method !== 'GET') return undefined
  const item = /^\/economy\/image\/([\w-]+)\.([0-9a-f]{6})(?:\/\w+)?$/.exec(path)
  if (item) {
    const body = bodyOf(item[1] ?? '')
    return body ? svg(itemPicture(body, item[2] ?? '')) : undefined
  }
  // The picture of a class, for callers that lack its description.
  const ofClass = /^\/economy\/image\/class\/\d+\/(\d+)(?:\/\w+)?$/.exec(path)
  if (ofClass) {
    const entry = CATALOGUE.get(ofClass[1] ?? '')
    const [icon = '', color = ''] = entry === undefined ? [] : iconPath(entry).split('.')
    const body = bodyOf(icon)
    return body ? svg(itemPicture(body, color)) : undefined
  }
  const avatar = /^(?:\/avatars)?\/([0-9a-f]{40})(?:_medium|_full)?\.jpg$/.exec(path)
  return avatar ? svg(avatarPicture(avatar[1] ?? '')) : undefined
}

function svg(body: string): Reply {
  return {
    status: 200,
    headers: {
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=86400',
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    },
    body,
  }
}

function itemPicture(body: string, color: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512" color="#${color}"><defs>
<radialGradient id="g"><stop stop-color="#${color}" stop-opacity=".35"/><stop offset="1" stop-color="#${color}" stop-opacity="0"/></radialGradient>
</defs><circle cx="256" cy="256" r="256" fill="url(#g)"/><g transform="translate(51 51) scale(.8)">${body}</g></svg>`
}

/** Draws a pattern of five by five cells, symmetric about its middle column. */
function avatarPicture(hash: string): string {
  const hue = Number.parseInt(hash.slice(0, 4), 16) % 360
  const cells = Array.from({ length: 15 }, (_, index) => {
    if (Number.parseInt(hash[index + 4] ?? '0', 16) % 2 === 0) return ''
    const [x, y] = [index % 3, Math.floor(index / 3)]
    const cell = (column: number) =>
      `<rect x="${column * 30 + 17}" y="${y * 30 + 17}" width="30" height="30"/>`
    return x === 2 ? cell(2) : cell(x) + cell(4 - x)
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 184 184"><rect width="184" height="184" fill="hsl(${hue} 45% 18%)"/><g fill="hsl(${hue} 75% 64%)">${cells.join('')}</g></svg>`
}
