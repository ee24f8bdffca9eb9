import './picture.css'
import { useState } from 'react'

const SIZE_OF_100 = /\/100fx100f$/

/** The picture for denser screens, in sizes that Steam's servers offer. */
const srcSetOf = (url: string): string | undefined =>
  SIZE_OF_100.test(url)
    ? `${url}, ${url.replace(SIZE_OF_100, '/200fx200f')} 2x, ${url.replace(SIZE_OF_100, '/360fx360f')} 3x`
    : undefined

/** Not loaded lazily, because a page has few at a time. A drawn crate replaces a picture that does not load. */
export function Picture({ url, size }: { url: string; size: number }) {
  const [isBroken, setBroken] = useState(false)
  if (isBroken) {
    return (
      <svg className="picture-missing" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
        <path d="M4 8.5 12 4l8 4.5v7L12 20l-8-4.5zM4 8.5l8 4.5 8-4.5M12 13v7" />
      </svg>
    )
  }
  return (
    <img
      src={url}
      srcSet={srcSetOf(url)}
      alt=""
      width={size}
      height={size}
      decoding="async"
      referrerPolicy="no-referrer"
      draggable={false}
      onError={() => setBroken(true)}
    />
  )
}
