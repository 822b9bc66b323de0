//! Image references, valid and not.

use super::dice::Dice;
use super::text::{ident, text};

const PAYLOADS: &[&str] = &[
    "iVBORw0KGgo=",
    "iVBORw0KGgoAAAANSUhEUg==",
    "R0lGODlhAQABAIAAAAUEBA",
    "/9j/4AAQSkZJRgABAQ",
    "",
    "AAAA",
    "AAA=",
    "AA==",
    "UklGRg==",
];

const ODD_PAYLOADS: &[&str] = &[
    "AA=",
    "A===",
    "A",
    "AAAAA",
    "AA",
    "AAA",
    "====",
    "AB==",
    "AAB=",
    "AA==AA==",
    "AA AA",
    "AA\nAA",
    "AA%3D%3D",
    "_-_-",
    "****",
    "AAAA====",
    "AAA==",
    "=",
    "é",
    "AA==\n",
    " AAAA",
    "AA%20AA",
    "AAAA=",
    "iVBORw0KGgo",
];

/// An `http` URL that is accepted.
pub fn http_url(dice: &mut Dice) -> String {
    match dice.weighted(&[(6, 0), (1, 1), (1, 2), (1, 3)]) {
        0 => format!("https://example.com/{}.png", ident(dice, 6)),
        1 => (dice.pick(&[
            "HTTP://X/Y",
            "http",
            "httpx",
            "hTtP:broken url",
            "http://例え/图.png",
            "https://a/?q=<｜image｜>",
        ]))
        .to_owned(),
        2 => format!("http://{}", text(dice)),
        _ => {
            let length = dice.between(8150, 8184);
            format!("http://{}", ident(dice, length))
        }
    }
}

/// A URL beyond the length limit.
pub fn long_url(dice: &mut Dice) -> String {
    let length = dice.between(8186, 8400);
    format!("http://{}", ident(dice, length))
}

/// A data URL that is accepted as an image.
pub fn data_url(dice: &mut Dice) -> String {
    let media = dice.pick(&[
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "image/jpg",
        "IMAGE/PNG",
        "image/PNG;charset=utf-8",
        " image/png ",
        "image/png;a=b;c=\"d\"",
    ]);
    let payload = if dice.chance(0.7) {
        dice.pick(PAYLOADS)
    } else {
        dice.pick(&["AAA", "AA", "AA AA", "AA\nAA", "AA%3D%3D", " AAAA", "AA%20AA"])
    };
    let scheme = dice.weighted(&[(8, "data:"), (1, "DATA:"), (1, " data:")]);
    format!("{scheme}{media};base64,{payload}")
}

/// A value that is neither `http` nor an acceptable data URL, or is so only by a hair.
pub fn odd_url(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => (dice.pick(&[
            "",
            "ftp://x/y.png",
            "file:///etc/passwd",
            "data:",
            "data:,",
            "data:image/png,AAAA",
            "data:image/png;base64",
            "blob:abc",
            "data:image/bmp;base64,AAAA",
            "data:text/plain;base64,AAAA",
            "data:;base64,AAAA",
            "data:application/pdf;base64,AAAA",
            "data:image;base64,AAAA",
            "data:image/svg+xml;base64,AAAA",
            "base64,AAAA",
            "image/png;base64,AAAA",
            "data:image/png;base64 ,AAAA",
            "data:image/png; base64,AAAA",
            "data:image/png;BASE64,AAAA",
            "htt",
            "ht tp://x",
            "ｈttp://x",
            "data:image/png;charset=base64,AAAA",
            "data:image/png,base64,AAAA",
            "data:image/png;base64,AAAA#frag",
            "data:image/png;base64,#",
            "data:image/png;base64,AA#=",
        ]))
        .to_owned(),
        1 => format!("data:image/png;base64,{}", dice.pick(ODD_PAYLOADS)),
        2 => format!("data:{};base64,AAAA", text(dice)),
        _ => text(dice),
    }
}

/// The URL of an image block of Chat or Responses.
pub fn image_url(dice: &mut Dice) -> String {
    if dice.chance(0.5) { http_url(dice) } else { data_url(dice) }
}

/// The URL of an image block that is likely to be refused.
pub fn bad_image_url(dice: &mut Dice) -> String {
    if dice.chance(0.2) { long_url(dice) } else { odd_url(dice) }
}

/// A base64 payload of Messages that decodes, after its padding is put right where there is any.
pub fn payload(dice: &mut Dice) -> String {
    dice.pick(&["iVBORw0KGgo=", "AAAA", "AA==", "AAA=", "", "AA=", "AA====", "AAA==", "/+9k", "AAAA===="])
        .to_owned()
}

/// A base64 payload that is odd, and mostly refused.
pub fn bad_payload(dice: &mut Dice) -> String {
    dice.pick(ODD_PAYLOADS).to_owned()
}
